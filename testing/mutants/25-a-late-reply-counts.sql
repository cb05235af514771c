-- I25: a reply counts after its exchange has timed out.
select pg_temp.replace_in_function('letter_reply_facts',
    'state := mine.state', 'state := replace(mine.state, ''timed-out'', ''put'')');
select pg_temp.replace_in_function('letter_reply_facts', 'reply_by := mine.reply_by', 'reply_by := null');
