use super::*;

fn command(name: &str, description: &str) -> PlatformCommand {
    PlatformCommand {
        name: name.to_owned(),
        description: description.to_owned(),
        options: Vec::new(),
    }
}

/// Returns the stored command after a step was executed.
fn after(step: &CommandStep) -> Option<HeldCommand> {
    let told = (step.digest?, "77".to_owned());
    Some(HeldCommand {
        scope_id: step.scope_id.clone(),
        name: step.name.clone(),
        registered: Some(told),
    })
}

#[test]
fn nothing_is_done_when_nothing_changed() {
    let offered = [command("tea", "makes tea"), command("cake", "bakes")];
    let scopes = ["70".to_owned(), "71".to_owned()];
    let first = plan_steps(&offered, &scopes, &[]);
    assert_eq!(first.len(), 4, "each in each");
    let held: Vec<HeldCommand> = first.iter().filter_map(after).collect();

    assert_eq!(plan_steps(&offered, &scopes, &held), []);
    let changed = [command("tea", "makes better tea"), command("cake", "bakes")];
    let names: Vec<String> =
        plan_steps(&changed, &scopes[..1], &held[..2]).into_iter().map(|step| step.name).collect();
    assert_eq!(names, ["tea"], "only what changed is told");
}

#[test]
fn what_is_not_offered_or_not_granted_any_more_is_taken_back() {
    let offered = [command("tea", "makes tea")];
    let scopes = ["70".to_owned(), "71".to_owned()];
    let told = plan_steps(&offered, &scopes, &[]);
    let held: Vec<HeldCommand> = told.iter().filter_map(after).collect();
    let back = |steps: Vec<CommandStep>| -> Vec<String> {
        let is_back = |step: &CommandStep| matches!(step.change, Some(CommandChange::TakenBack(_)));
        assert!(steps.iter().all(is_back), "{steps:?}");
        steps.into_iter().map(|step| step.scope_id).collect()
    };

    assert_eq!(back(plan_steps(&[], &scopes, &held)), ["70", "71"]);
    assert_eq!(back(plan_steps(&offered, &scopes[..1], &held)), ["71"]);
}

#[test]
fn what_the_platform_never_heard_of_is_only_given_back() {
    let held = HeldCommand { scope_id: "70".to_owned(), name: "tea".to_owned(), registered: None };
    let [step] = &plan_steps(&[], &[], &[held])[..] else { panic!("one step") };
    assert_eq!((&step.change, step.digest), (&None, None));
}
