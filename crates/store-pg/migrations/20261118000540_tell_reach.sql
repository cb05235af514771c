-- What people and who looks after an agent do about its reach is told, too.

-- Who uses a code is a person: nobody that the desk has an id for but the platform's.
create function tell_linked() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
    perform set_config('app.actor', 'person', true);
    perform tell(new.tenant_id, 'linked', jsonb_build_object(
        'agent_id', new.agent_id, 'bot_id', new.used_bot, 'author_id', new.used_author));
    return null;
end
$$;
alter function tell_linked() owner to nightdesk_doors;

create constraint trigger tell_link after insert on link_codes
    deferrable initially deferred for each row
    execute function tell_row('link-made', 'agent_id');
create constraint trigger tell_linked after update of used_author on link_codes
    deferrable initially deferred for each row
    when (old.used_author is null and new.used_author is not null)
    execute function tell_linked();
create constraint trigger tell_shared after update of shared on bots
    deferrable initially deferred for each row
    execute function tell_row('bot-shared', 'bot_id', 'shared');
create constraint trigger tell_trusted after update of gateways_may_widen on tenants
    deferrable initially deferred for each row
    execute function tell_row('gateways-trusted', 'gateways_may_widen');
