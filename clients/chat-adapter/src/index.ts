export { NightdeskAdapter, type NightdeskAdapterConfig, type NightdeskRaw, createNightdeskAdapter } from "./adapter.js";
export { MarkdownConverter } from "./message.js";
export type { NightdeskThreadId } from "./thread-id.js";
