// Starts the page. A file of its own because the content-security-policy forbids inline scripts;
// Trunk writes the names of the generated files into this script's data attributes.
const { js, wasm } = document.querySelector('script[data-js]').dataset;
const boot = document.getElementById('boot');

try {
  const program = fetch(new URL(wasm, document.baseURI));
  const { default: init } = await import(new URL(js, document.baseURI));
  await init({ module_or_path: program });
  boot.remove();
} catch (error) {
  console.error(error);
  const supported = typeof WebAssembly === 'object';
  boot.dataset.state = 'failed';
  document.getElementById('boot-status').textContent = supported
    ? `Goodput could not start: ${error.message ?? error}. Reload the page; if that does not help, the files on the server may be incomplete.`
    : 'Goodput could not start: this browser has no WebAssembly. Any browser released since 2022 has it.';
}
