//! Which model answers.

use signoff::cli::CliError;
use signoff::cli::compose::{Choice, Chosen, Fallback, choose_model};
use signoff::config::{Config, Env, ProviderConfig};

async fn choose(config: &Config, env: &[(&str, &str)]) -> Result<Chosen, CliError> {
    let env: Env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    choose_model(Choice { config, env: &env, speed: None, fallback: Fallback::Refuse }).await
}

async fn refusal(config: &Config, env: &[(&str, &str)]) -> String {
    choose(config, env).await.err().expect("nothing can be chosen").to_string()
}

#[tokio::test]
async fn the_scripted_model_is_chosen_by_name_and_says_what_it_is() {
    let config = Config { provider: "scripted".into(), ..Config::default() };
    let chosen = choose(&config, &[("OPENAI_API_KEY", "sk-x")]).await.unwrap();
    assert!(chosen.model.is_scripted() && chosen.notice.unwrap().contains("script"));
}

#[tokio::test]
async fn a_script_that_is_missing_or_wrong_is_told_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("play.toml");
    let config = Config { provider: "scripted".into(), script: Some(script.clone()), ..Config::default() };
    assert!(refusal(&config, &[]).await.contains("play.toml"));
    std::fs::write(&script, "[[rule]]\non = \"gaol\"\n").unwrap();
    let fault = refusal(&config, &[]).await;
    assert!(fault.contains("play.toml") && fault.contains("goal"), "{fault}");
}

#[tokio::test]
async fn a_key_in_the_environment_chooses_its_provider_and_the_order_is_fixed() {
    let config = Config::default();
    let chosen = choose(&config, &[("DEEPSEEK_API_KEY", "k"), ("OPENAI_API_KEY", "k")]).await.unwrap();
    assert_eq!((chosen.provider.as_str(), chosen.model_name.as_str()), ("openai", "gpt-5-mini"));
    assert!(!chosen.model.is_scripted() && chosen.notice.is_none());
}

#[tokio::test]
async fn the_model_that_was_named_is_asked() {
    let config = Config { model: "gpt-5".into(), ..Config::default() };
    assert_eq!(choose(&config, &[("OPENAI_API_KEY", "k")]).await.unwrap().model_name, "gpt-5");
}

#[tokio::test]
async fn a_configured_provider_without_its_key_is_an_error_and_never_another_one() {
    let config = Config { provider: "openai".into(), ..Config::default() };
    let fault = refusal(&config, &[("DEEPSEEK_API_KEY", "k")]).await;
    assert!(fault.contains("OPENAI_API_KEY"), "{fault}");
}

#[tokio::test]
async fn a_key_goes_to_its_own_provider_only() {
    let mut config = Config { provider: "work".into(), ..Config::default() };
    let work = ProviderConfig { base_url: "http://127.0.0.1:1/v1".into(), model: "m".into(), ..ProviderConfig::default() };
    config.providers.insert("work".into(), work.clone());
    let settings = signoff::cli::compose::settings("work", &work, &Env::from([("OPENAI_API_KEY".into(), "sk-x".into())])).await.unwrap();
    assert!(settings.api_key.is_none());
    let chosen = choose(&config, &[("OPENAI_API_KEY", "sk-x")]).await.unwrap();
    assert_eq!((chosen.provider.as_str(), chosen.model_name.as_str()), ("work", "m"), "a silent server does not hinder the start");
}

#[tokio::test]
async fn an_own_address_without_a_key_is_taken_as_configured() {
    let mut config = Config::default();
    config.providers.get_mut("openai").unwrap().base_url = "http://127.0.0.1:1".into();
    config.model = "local".into();
    assert_eq!(choose(&config, &[]).await.unwrap().provider, "openai");
}

#[tokio::test]
async fn a_provider_without_an_address_is_told() {
    let mut config = Config { provider: "work".into(), ..Config::default() };
    config.providers.insert("work".into(), ProviderConfig::default());
    assert!(refusal(&config, &[]).await.contains("providers.work.base_url"));
}
