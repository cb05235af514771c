import type { Source } from "./wire.js";

/** The platforms that stock clients know. They call every other one `relay`. */
const KNOWN = new Set([
  ...["local", "telegram", "discord", "whatsapp", "whatsapp_cloud", "slack", "signal", "mattermost", "matrix"],
  ...["homeassistant", "email", "sms", "dingtalk", "api_server", "webhook", "msgraph_webhook", "feishu", "wecom"],
  ...["wecom_callback", "weixin", "bluebubbles", "qqbot", "yuanbao", "relay", "google_chat", "irc", "line", "ntfy"],
  ...["photon", "raft", "simplex", "teams"],
]);

type KeySource = Pick<Source, "platform" | "chat_id" | "chat_type" | "thread_id" | "user_id"> &
  Partial<Pick<Source, "user_id_alt" | "scope_id" | "prospective_thread_id">>;

/**
 * Returns the key of a conversation, as the newest stock client computes it: a chat or a thread, and in groups outside
 * of threads a person in it. Interrupts and `follow_up` name a conversation by this key.
 */
export function sessionKey(source: KeySource): string {
  const name = source.platform.trim().toLowerCase();
  const platform = KNOWN.has(name) ? name : "relay";
  const isDm = source.chat_type === "dm";
  const [chat, who] = [source.chat_id, source.user_id_alt || source.user_id || ""];
  const thread = source.thread_id || (isDm ? "" : source.prospective_thread_id) || "";
  const opensThread = !isDm && !source.thread_id && thread !== "";
  const scope = platform === "slack" ? (source.scope_id ?? "") : "";
  const person = platform === "whatsapp" ? stablePart(who) || who : who;
  const place = platform === "whatsapp" && isDm ? stablePart(chat) : chat;
  const rest = isDm ? [place || person, thread] : [place, thread, thread ? "" : person];
  const first = ["agent", "main", platform, opensThread ? "thread" : source.chat_type];
  return [...first, ...[scope, ...rest].filter((part) => part !== "")].join(":");
}

/** Returns a WhatsApp address without its first plus sign, its device and its server. */
function stablePart(address: string): string {
  return /^[^:@]*/.exec(address.trim().replace("+", ""))?.[0] ?? "";
}
