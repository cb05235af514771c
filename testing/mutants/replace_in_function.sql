-- Replaces a part of a function. Every mutant in SQL runs after this file, in the same session.
create function pg_temp.replace_in_function(called text, old text, new text) returns void
language plpgsql as $$
declare
    definition text := pg_get_functiondef(called::regproc);
begin
    if position(old in definition) = 0 then
        raise exception '% has no `%`', called, old;
    end if;
    execute replace(definition, old, new);
end $$;
