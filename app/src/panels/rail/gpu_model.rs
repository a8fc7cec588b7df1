//! GPU and model: from the catalogue, or by numbers of one's own.

use goodput_engine::catalog;
use goodput_engine::scenario::{CatalogRef, GpuRef, ModelRef};
use leptos::prelude::*;

use super::{about_pool, change_pool};
use crate::controls::{Choice, NumberField, Select, TextField};
use crate::state::edit::PoolEdit;
use crate::state::field::{Field, GpuField, ModelField};
use crate::state::workbench;
use crate::view_model::fleet::{self as words, CUSTOM};

/// The GPU.
pub fn gpu(pool: usize) -> AnyView {
    let id = about_pool(pool, |pool| words::gpu_choice(&pool.gpu));
    let name = about_pool(pool, |pool| match &pool.gpu {
        CatalogRef::Custom(spec) => spec.name.clone(),
        CatalogRef::Id(_) => String::new(),
    });
    let choose = Callback::new(move |id: String| {
        let gpu = if id == CUSTOM {
            let doc = workbench().doc_untracked();
            let spec = doc.fleet.pools.get(pool).and_then(words::custom_gpu);
            spec.map(|spec| GpuRef::Custom(Box::new(spec)))
        } else {
            Some(GpuRef::id(&id))
        };
        if let Some(gpu) = gpu {
            change_pool(pool, PoolEdit::Gpu(gpu));
        }
    });
    let rename = Callback::new(move |text| change_pool(pool, PoolEdit::GpuName(text)));
    let path = format!("fleet.pools[{pool}].gpu.name");
    let mut choices: Vec<Choice> =
        catalog::gpus().iter().map(|gpu| Choice::new(gpu.id, gpu.spec.name.clone())).collect();
    choices.push(Choice::new(CUSTOM, "by numbers…"));
    view! {
        <Select id="gpu" label="GPU" choices value=id on_choose=choose/>
        {move || {
            (id.get() == CUSTOM)
                .then(|| {
                    let fields = GpuField::ALL.map(|field| view! { <NumberField field=Field::Gpu(pool, field)/> });
                    view! {
                        <TextField id="gpu-name" label="Name" value=name path=path.clone() on_input=rename/>
                        <div class="two">{fields.into_iter().collect_view()}</div>
                    }
                })
        }}
    }
    .into_any()
}

/// The model.
pub fn model(pool: usize) -> AnyView {
    let id = about_pool(pool, |pool| words::model_choice(&pool.model));
    let choose = Callback::new(move |id: String| {
        let model = if id == CUSTOM {
            let doc = workbench().doc_untracked();
            let shape = doc.fleet.pools.get(pool).and_then(words::custom_model);
            shape.map(|shape| PoolEdit::Model(ModelRef::Custom(Box::new(shape)), None))
        } else {
            // A model comes in the precision its makers ship, until that is changed.
            let weights = catalog::model(&id).ok().map(|entry| entry.native_weights);
            Some(PoolEdit::Model(ModelRef::id(&id), weights))
        };
        if let Some(model) = model {
            change_pool(pool, model);
        }
    });
    let mut choices: Vec<Choice> = catalog::models()
        .iter()
        .map(|model| Choice::new(model.id.clone(), model.shape.name.clone()))
        .collect();
    choices.push(Choice::new(CUSTOM, "by numbers, or a pasted config.json…"));
    view! {
        <Select id="model" label="Model" choices value=id on_choose=choose/>
        {move || (id.get() == CUSTOM).then(|| custom_model(pool))}
    }
    .into_any()
}

/// Numbers of a model, or its Hugging Face config.
fn custom_model(pool: usize) -> AnyView {
    let name = about_pool(pool, |pool| match &pool.model {
        CatalogRef::Custom(shape) => shape.name.clone(),
        CatalogRef::Id(_) => String::new(),
    });
    let groups = about_pool(pool, |pool| match &pool.model {
        CatalogRef::Custom(shape) => words::layers_line(shape),
        CatalogRef::Id(_) => String::new(),
    });
    // What was made of the paste: remarks, or why nothing was.
    let said = RwSignal::new(Ok(String::new()));
    let refused = move || said.with(Result::is_err);
    let paste = move |text: String| {
        if text.trim().is_empty() {
            said.set(Ok(String::new()));
            return;
        }
        match words::model_of_config(&text) {
            Ok((shape, weights, remarks)) => {
                said.set(Ok(remarks));
                let model = ModelRef::Custom(Box::new(shape));
                change_pool(pool, PoolEdit::Model(model, weights));
            }
            Err(why) => said.set(Err(why)),
        }
    };
    let rename = Callback::new(move |text| change_pool(pool, PoolEdit::ModelName(text)));
    let path = format!("fleet.pools[{pool}].model.name");
    let fields =
        ModelField::ALL.map(|field| view! { <NumberField field=Field::Model(pool, field)/> });
    view! {
        <div class="field" class:wrong=refused>
            <label for="config-json">"Paste a Hugging Face config.json"</label>
            <textarea
                id="config-json"
                data-testid="config-json"
                rows="3"
                spellcheck="false"
                aria-describedby="config-json-note"
                aria-invalid=move || refused().then_some("true")
                on:input:target=move |ev| paste(ev.target().value())
            ></textarea>
            <p class="echo" id="config-json-note" role="status">
                {move || said.get().unwrap_or_else(|why| why)}
            </p>
        </div>
        <TextField id="model-name" label="Name" value=name path on_input=rename/>
        <div class="two">{fields.into_iter().collect_view()}</div>
        <p class="echo">{move || groups.get()}</p>
    }
    .into_any()
}
