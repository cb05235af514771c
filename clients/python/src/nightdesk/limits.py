"""All bounds of the SDK. Spans are in seconds, sizes in bytes."""

VERSION = "0.1.0"
CLIENT = {"name": "nightdesk-python", "version": VERSION}
USER_AGENT = "nightdesk-python/" + VERSION

# The line: docs/protocol.md, sections 1, 8 and 9.
TOKEN_LIFE = 300
DIAL_WAIT = 10.0
GREET_WAIT = 30.0
PING_EVERY = 25.0
DEAD_LINE = 90.0
WRITE_WAIT = 30.0
CLOSE_WAIT = 2.0
FRAME_BYTES_MAX = 4 * 1024 * 1024
HELLOS_MAX = 16

# Dials. A line that lived for `LIVED` resets the backoff; a second close with 4401 is final.
BACKOFF_FIRST = 1.0
BACKOFF_MAX = 30.0
LIVED = 60.0
RESTART_SPREAD = 5.0
REVOCATIONS_MAX = 2
RETRY_AFTER_MAX = 60.0

# Sends. A send waits for a line, or for a place on it, and then for its result.
SENDS_IN_FLIGHT_MAX = 64
SENDS_WAITING_MAX = 64
SENDS_WAITING_BYTES_MAX = 16 * 1024 * 1024
LINE_WAIT = 10.0
RESULT_WAIT = 30.0

# Entries. A desk that sends more than `ENTRIES_WAITING_MAX` violates its window of twelve.
TURNS_MAX = 12
ENTRIES_WAITING_MAX = 64
HANDLED_KEPT_MAX = 4096

# Sleep. The desk holds entries back for ten seconds after `going_idle`.
IDLE_WAIT = 8.0
SLEEP_AFTER_MIN = 5.0
SLEEP_AFTER_MAX = 86_400.0
SAME_WAKE = 1.0
WAKE_SECRET_CHARS = (16, 128)

# Calls beside the line.
CALL_WAIT = 15.0
# A take has up to twelve entries of 512 KiB.
ANSWER_BYTES_MAX = 16 * 1024 * 1024
EXCHANGE_WAIT_MAX = 300.0
TAKE_WAIT = 25
TAKE_AGAIN = 1.0
ACKS_MAX = 64
RECEIVED_MAX = 256

# Webhooks. A post has a frame of at most 512 KiB; a turn lasts at most the desk's longest deadline.
POST_BYTES_MAX = 1024 * 1024
BODY_WAIT = 10.0
POST_AGE_MAX = 300
POST_TURN_WAIT = 900.0
POSTS_MAX = 64

# Fire tokens and the desk's keys.
FIRE_TOKEN_BYTES_MAX = 16 * 1024
FIRE_TOKEN_LIFE_MAX = 600
CLOCKS_APART = 30
KEYS_MAX = 64
KID_CHARS_MAX = 512
RSA_BITS_MIN = 2048
KEYS_WAIT = 3.0
KEYS_FRESH_FOR = 300.0
KEYS_STALE_FOR = 86_400.0
KEYS_READ_EVERY = 10.0
