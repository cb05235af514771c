-- Signing keys follow each other: each is made known a day before it signs, and kept a day after
-- the next one does. So there are several, perhaps of two algorithms, and one may be taken out of
-- use before its time.
alter table signing_keys
    add column algorithm text not null default 'ES256',
    add constraint signing_keys_known_algorithm check (algorithm in ('ES256', 'RS256'));
grant update (retired_at) on signing_keys to nightdesk_app;
