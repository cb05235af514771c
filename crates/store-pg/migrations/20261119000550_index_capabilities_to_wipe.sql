-- no-transaction
-- What is lent ends within minutes and its row stays for a day: the sweep must not walk through those.
create index concurrently capabilities_to_wipe on capabilities (expires_at)
    where octet_length(sealed) > 0;
