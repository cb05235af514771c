-- I26: the newest revision of a skill is overwritten, and its earlier version is lost.
select pg_temp.replace_in_function('skill_put', 'revision = s.revision + 1, meta', 'meta');
select pg_temp.replace_in_function('skill_put',
    'insert into skill_revisions (',
    'delete from skill_revisions r
            where r.tenant_id = p_tenant and r.name = p_name and r.revision = v_revision;
            insert into skill_revisions (');
