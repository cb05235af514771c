/** All limits of the SDK. Times are in milliseconds. */

/** Timeout of a dial, from the first packet to the answered upgrade. */
export const DIAL_WAIT = 10_000;

/** Timeout of the descriptors of a new line. */
export const GREET_WAIT = 30_000;

/** Timeout of `handshake`. */
export const HANDSHAKE_WAIT = 30_000;

/** Maximum of the first delay before a dial. Each further delay may be twice as long. */
export const BACKOFF_FIRST = 1_000;

/** Maximum of any delay before a dial. */
export const BACKOFF_MAX = 30_000;

/** Life of a line after which the backoff begins anew. */
export const LIVED = 60_000;

/** Time over which dials after a restart of the desk are spread. */
export const RESTART_SPREAD = 5_000;

/** Longest wait that the desk may ask for before a dial. */
export const RETRY_AFTER_MAX = 60_000;

/** Number of closes with 4401 that a gateway needs before it accepts the revocation. */
export const REVOCATIONS_MAX = 2;

/** Interval of pings. */
export const PING_EVERY = 25_000;

/** Time without a frame, ping or pong after which a line is given up. */
export const DEAD_LINE = 90_000;

/** Time that the desk has to answer a close frame. */
export const CLOSE_WAIT = 2_000;

/** Longest message of the desk. Its frames have at most 512 KiB; a message may hold several. */
export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Longest frame to the desk. */
export const FRAME_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that may wait in a socket before further sends wait outside of it. */
export const SOCKET_BYTES_MAX = 2 * FRAME_BYTES_MAX;

/** Hellos on a line. */
export const HELLOS_MAX = 16;

/** Sends in flight on a line. */
export const SENDS_IN_FLIGHT_MAX = 64;

/** Sends that wait for a line, or for a place on it, and their bytes. One send always fits. */
export const SENDS_WAITING_MAX = 64;
export const SENDS_WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum wait of a send for a line, or for a place on it. */
export const LINE_WAIT = 10_000;

/** Maximum wait for the result of a send. */
export const RESULT_WAIT = 30_000;

/** Concurrent turns: a full window of the desk. */
export const TURNS_MAX = 12;

/** Entries that wait for their turn. A desk that delivers more violates its window. */
export const ENTRIES_WAITING_MAX = 64;

/** Ids of handled entries that are remembered. */
export const HANDLED_MAX = 4_096;

/** Maximum duration of going idle. The desk delivers nothing for ten seconds. */
export const IDLE_WAIT = 8_000;

/** Bounds of the quiet time after which an agent falls asleep. */
export const SLEEP_AFTER_MIN = 5_000;
export const SLEEP_AFTER_MAX = 24 * 60 * 60 * 1_000;

/** Wake calls within this time after a wake belong to it. */
export const SAME_WAKE = 1_000;

/** Bounds of the length of a wake secret. */
export const WAKE_SECRET_MIN = 16;
export const WAKE_SECRET_MAX = 128;

/** Timeout of a call to the desk, from the first packet to the last. */
export const CALL_WAIT = 15_000;

/** Longest response of the desk, besides files. */
export const RESPONSE_BYTES_MAX = 512 * 1024;

/** Longest response to a take: a full window of frames. */
export const TAKE_BYTES_MAX = TURNS_MAX * 512 * 1024 + RESPONSE_BYTES_MAX;

/** Longest file, and the timeout of its transfer. */
export const FILE_BYTES_MAX = 25 * 1024 * 1024;
export const FILE_WAIT = 120_000;

/** Longest wait for the reply to a letter. */
export const EXCHANGE_WAIT_MAX = 300_000;

/** Longest wait of a take at the desk, in seconds. */
export const TAKE_WAIT_SECS_MAX = 55;

/** Ids in one ack over HTTP. */
export const ACK_IDS_MAX = 64;

/** Tolerance of a webhook's timestamp. */
export const WEBHOOK_TOLERANCE = 300_000;

/** Shortest key of a webhook. */
export const WEBHOOK_KEY_BYTES_MIN = 16;

/** Longest body of a webhook, and of the answer to it. */
export const WEBHOOK_BYTES_MAX = 1024 * 1024;

/** Webhooks that run at once. The desk posts at most twelve entries at once, and repeats may overtake. */
export const WEBHOOKS_MAX = 64;

/** Seconds after which the desk is to repeat a webhook that found no place. */
export const WEBHOOK_RETRY_SECS = 10;

/** Timeout of receiving a request's body. */
export const BODY_WAIT = 5_000;

/** Longest fire token, and the longest body of a fire. */
export const FIRE_TOKEN_CHARS_MAX = 16 * 1024;
export const FIRE_BYTES_MAX = 4 * 1024;

/** Maximum difference between the clocks of desk and agent, in seconds. */
export const CLOCKS_APART_SECS = 30;

/** Longest remaining life of a fire token, in seconds. */
export const FIRE_LIFE_SECS_MAX = 600;

/** Time that the desk's keys are used before they are read again. */
export const KEYS_FRESH = 5 * 60_000;

/** Time that the desk's keys are used while they cannot be read. */
export const KEYS_STALE = 24 * 60 * 60_000;

/** Minimum time between two reads of the desk's keys. */
export const KEYS_READ_EVERY = 10_000;

/** Timeout of reading the desk's keys. */
export const KEYS_WAIT = 3_000;
