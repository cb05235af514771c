import { AsyncLocalStorage } from "node:async_hooks";

import { ValidationError, extractCard, extractFiles, toBuffer } from "@chat-adapter/shared";
import {
  type Adapter,
  type AdapterPostableMessage,
  type Attachment,
  type ChatInstance,
  type EmojiValue,
  type FetchResult,
  type FileUpload,
  type FormattedContent,
  LockError,
  type Logger,
  type Message,
  type RawMessage,
  type ThreadInfo,
  type WebhookOptions,
  convertEmojiPlaceholders,
  defaultEmojiResolver,
} from "chat";
import {
  type Answer,
  type Bot,
  type Delivered,
  Desk,
  type Entry,
  type InboundEvent,
  type Login,
  Media,
  type Op,
  type Place,
  type Receipt,
  VerificationError,
  type Verify,
  webhookHandler,
} from "nightdesk";

import { MarkdownConverter, threadOf, toAuthor, toMessage } from "./message.js";
import { PostedTurn, optionsOf, readOption, toAdapterError } from "./outgoing.js";
import { NAME, type NightdeskThreadId, decodeThreadId, encodeThreadId } from "./thread-id.js";

export interface NightdeskAdapterConfig {
  /** The desk's URL. */
  url: string;
  login: Login;
  /** The bots that the agent speaks for. Default: all. */
  bots?: Bot[];
  /** The bot's name, for `@name` in groups. Default: that of the `Chat`. */
  userName?: string;
  /** The platform's id of the bot, by which its own messages are recognised. Default: the id of the only bot. */
  botUserId?: string;
  /** Takes entries that the desk posts, in place of a line. Two secrets during a rotation. */
  webhookSecret?: string | string[];
  /** Verifies posted entries in place of the secret. A falsy result or an error refuses the request. */
  webhookVerifier?: (request: Request, body: string) => unknown;
}

/** The raw message of an event, or the receipt of a post. */
export type NightdeskRaw = InboundEvent | Receipt;

/** Duration of a turn after which its entry is acknowledged: the desk counts a try after 45 s. */
const ACK_AFTER_MS = 30_000;

/** Connects the Chat SDK to a desk, by a line or by posted entries. */
export class NightdeskAdapter implements Adapter<NightdeskThreadId, NightdeskRaw> {
  readonly name = NAME;
  readonly userName: string;
  readonly botUserId?: string;
  /** The desk has no history. */
  readonly persistThreadHistory = true;
  readonly supportsTurnCancellation = true;

  readonly #config: NightdeskAdapterConfig;
  readonly #media: Media;
  readonly #converter = new MarkdownConverter();
  readonly #posted = new AsyncLocalStorage<{ turn: PostedTurn; options: WebhookOptions | undefined }>();
  readonly #webhook?: (request: Request) => Promise<Response>;
  #started: { chat: ChatInstance; logger: Logger } | undefined;
  #line: { desk: Desk; running: Promise<unknown> } | undefined;

  constructor(config: NightdeskAdapterConfig) {
    this.#config = config;
    this.#media = new Media(config);
    this.userName = config.userName ?? "";
    const [bot, ...others] = config.bots ?? [];
    const botUserId = config.botUserId ?? (others.length === 0 ? bot?.id : undefined);
    if (botUserId) this.botUserId = botUserId;
    const by = config.webhookVerifier ? verifierOf(config.webhookVerifier) : config.webhookSecret;
    if (by !== undefined) this.#webhook = webhookHandler(by, (delivered) => this.#answer(delivered));
  }

  /** Opens the line, unless the desk posts the entries. */
  initialize(chat: ChatInstance): Promise<void> {
    const logger = chat.getLogger(NAME);
    this.#started = { chat, logger };
    const { url, login, bots } = this.#config;
    if (this.#webhook === undefined) {
      const desk = Desk.connect({
        ...{ url, login, bots },
        onStatus: (status) =>
          logger.debug("line", { state: status.state, why: "why" in status ? status.why.text : "" }),
      });
      const running = desk
        // The Chat SDK logs the error of a turn.
        .run(
          (entry) => this.#take(entry),
          (_, entry) => logger.warn("a turn failed; its entry comes again", { entry: entry.id }),
        )
        .catch((error: unknown) => logger.error("the agent is over", { error }));
      this.#line = { desk, running };
    }
    return Promise.resolve();
  }

  /** Goes idle: the desk keeps further entries, and wakes the agent for them. */
  async disconnect(): Promise<void> {
    await this.#line?.desk.goIdle().catch(() => undefined);
    await this.#line?.running;
  }

  /** Takes an entry that the desk posts. The response has what the bot did. */
  async handleWebhook(request: Request, options?: WebhookOptions): Promise<Response> {
    const handler = this.#webhook;
    if (!handler) return new Response("this adapter has a line and takes no webhooks", { status: 404 });
    return this.#posted.run({ turn: new PostedTurn(), options }, () => handler(request));
  }

  parseMessage(raw: NightdeskRaw): Message<NightdeskRaw> {
    if (!("source" in raw)) throw new ValidationError(NAME, "only an event of the desk is a message");
    return this.#toMessage(raw, "");
  }

  async postMessage(threadId: string, message: AdapterPostableMessage): Promise<RawMessage<NightdeskRaw>> {
    return this.#post(threadId, message);
  }

  async reply(threadId: string, messageId: string, message: AdapterPostableMessage): Promise<RawMessage<NightdeskRaw>> {
    return this.#post(threadId, message, messageId);
  }

  async editMessage(
    threadId: string,
    messageId: string,
    message: AdapterPostableMessage,
  ): Promise<RawMessage<NightdeskRaw>> {
    const op: Op = { op: "edit", message_id: messageId, content: this.#render(message) };
    return { id: messageId, threadId, raw: await this.#act(threadId, op) };
  }

  async deleteMessage(threadId: string, messageId: string): Promise<void> {
    await this.#act(threadId, { op: "delete", message_id: messageId });
  }

  async addReaction(threadId: string, messageId: string, emoji: EmojiValue | string): Promise<void> {
    await this.#act(threadId, { op: "react", message_id: messageId, emoji: defaultEmojiResolver.toDiscord(emoji) });
  }

  async removeReaction(threadId: string, messageId: string, emoji: EmojiValue | string): Promise<void> {
    const unicode = defaultEmojiResolver.toDiscord(emoji);
    await this.#act(threadId, { op: "react", message_id: messageId, emoji: unicode, remove: true });
  }

  async startTyping(threadId: string, status?: string): Promise<void> {
    await this.#act(threadId, status === undefined ? { op: "typing" } : { op: "typing", content: status });
  }

  /** The desk has no history. The Chat SDK keeps it, because of `persistThreadHistory`. */
  fetchMessages(): Promise<FetchResult<NightdeskRaw>> {
    return Promise.resolve({ messages: [] });
  }

  async fetchThread(threadId: string): Promise<ThreadInfo> {
    const { chat_info } = await this.#act(threadId, { op: "get_chat_info" });
    const { isDM, platform } = decodeThreadId(threadId);
    const name = chat_info === undefined ? {} : { channelName: chat_info.name };
    return { id: threadId, channelId: this.channelIdFromThreadId(threadId), ...name, isDM, metadata: { platform } };
  }

  rehydrateAttachment(attachment: Attachment): Attachment {
    const url = attachment.fetchMetadata?.reference ?? attachment.url;
    return url === undefined ? attachment : { ...attachment, fetchData: () => this.#fetchFile(url) };
  }

  encodeThreadId(place: NightdeskThreadId): string {
    return encodeThreadId(place);
  }

  decodeThreadId(threadId: string): NightdeskThreadId {
    return decodeThreadId(threadId);
  }

  channelIdFromThreadId(threadId: string): string {
    const { platform, chatId, isDM } = decodeThreadId(threadId);
    return encodeThreadId({ platform, chatId, isDM });
  }

  isDM(threadId: string): boolean {
    return decodeThreadId(threadId).isDM;
  }

  renderFormatted(content: FormattedContent): string {
    return this.#converter.fromAst(content);
  }

  /** Runs the turn of an entry of the line. A turn that takes long is acknowledged before it ends. */
  async #take(entry: Entry): Promise<void> {
    const late = setTimeout(() => entry.ack(), ACK_AFTER_MS);
    try {
      await this.#dispatch(entry);
    } finally {
      clearTimeout(late);
    }
  }

  /** Runs the turn of a posted entry. */
  async #answer(delivered: Delivered): Promise<Answer> {
    const posted = this.#posted.getStore();
    await this.#dispatch(delivered, posted?.options);
    return { actions: posted?.turn.actions ?? [] };
  }

  /** Passes an entry to the Chat SDK, and waits until its handlers have ended. */
  async #dispatch({ id = "", event, forward, signal }: Delivered, options?: WebhookOptions): Promise<void> {
    const { chat, logger } = this.#started ?? {};
    const user = toAuthor(event.source, this.botUserId);
    if (chat === undefined || logger === undefined || forward !== undefined || user.isMe) return;
    const threadId = threadOf(event.source);
    const stop = () => {
      chat.abortTurn(threadId).catch((error: unknown) => logger.error("a turn could not be stopped", { error }));
    };
    signal.addEventListener("abort", stop);
    try {
      if (event.prompt_response) {
        const { option_id, prompt_message_id: messageId = "" } = event.prompt_response;
        const action = { ...readOption(option_id), messageId, threadId, user, raw: event };
        await chat.processAction({ adapter: this, ...action }, options);
      } else if (event.source.message_is_edit) {
        const message = this.#toMessage(event, id);
        await chat.processMessageUpdated({ adapter: this, message, threadId }, options);
      } else {
        // The desk repeats only what was not acknowledged. It must not count as a duplicate.
        const once = { ...options, deduplicate: false };
        await chat.processMessage(this, threadId, this.#toMessage(event, id), once);
      }
    } catch (error) {
      // The application chose to drop messages of a busy thread. The entry would only come again.
      if (!(error instanceof LockError)) throw error;
      logger.warn("a message was dropped, because its thread is busy; set `concurrency` to keep it", { threadId });
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Posts a text or a card, then its files. */
  async #post(threadId: string, message: AdapterPostableMessage, replyTo?: string): Promise<RawMessage<NightdeskRaw>> {
    const [content, files] = [this.#render(message), extractFiles(message)];
    const options = optionsOf(extractCard(message));
    const reply = replyTo === undefined ? {} : { reply_to: replyTo };
    const receipts: Receipt[] = [];
    if (options.length > 0) {
      const prompt = { prompt_kind: "choice", prompt_id: crypto.randomUUID(), content, options } as const;
      receipts.push(await this.#act(threadId, { op: "prompt", ...prompt, ...reply }));
    } else if (content !== "" || files.length === 0) {
      // In the chat of a letter, this marks the reply.
      const mark = decodeThreadId(threadId).platform === "desk" ? { metadata: { notify: true } } : {};
      receipts.push(await this.#act(threadId, { op: "send", content, ...reply, ...mark }));
    }
    for (const file of files) receipts.push(await this.#postFile(threadId, file));
    const [first = {}] = receipts;
    return { id: first.message_id ?? "", threadId, raw: first };
  }

  async #postFile(threadId: string, { data, filename, mimeType }: FileUpload): Promise<Receipt> {
    const bytes = await toBuffer(data, { platform: "discord" });
    if (bytes === null) throw new ValidationError(NAME, `the file ${filename} has no bytes`);
    const mime = mimeType ?? "application/octet-stream";
    const source_url = await this.#media.upload(bytes, mime, filename);
    const kind = (["image", "audio", "video"] as const).find((known) => mime.startsWith(`${known}/`));
    return this.#act(threadId, { op: "send_media", media_kind: kind ?? "document", source_url, filename });
  }

  async #act(threadId: string, op: Op): Promise<Receipt> {
    const { platform, chatId, threadId: thread_id } = decodeThreadId(threadId);
    const place: Place = { platform, chat_id: chatId, ...(thread_id !== undefined && { thread_id }) };
    const posted = this.#posted.getStore();
    if (posted) return posted.turn.act(place, op);
    if (!this.#line)
      throw new ValidationError(NAME, "without a line, a bot can only answer within the turn of an entry");
    try {
      return await this.#line.desk.act(place, op);
    } catch (error) {
      throw toAdapterError(error);
    }
  }

  #toMessage(event: InboundEvent, id: string): Message<InboundEvent> {
    const author = toAuthor(event.source, this.botUserId);
    return toMessage(event, id, this.#converter, author, (url) => this.#fetchFile(url));
  }

  #render(message: AdapterPostableMessage): string {
    return convertEmojiPlaceholders(this.#converter.renderPostable(message), "discord");
  }

  async #fetchFile(url: string): Promise<Buffer> {
    return Buffer.from(await this.#media.download(url));
  }
}

/** Connects with `NIGHTDESK_URL`, `NIGHTDESK_GATEWAY` and `NIGHTDESK_SECRET`, unless the configuration names them. */
export function createNightdeskAdapter(config: Partial<NightdeskAdapterConfig> = {}): NightdeskAdapter {
  const { NIGHTDESK_URL = "", NIGHTDESK_GATEWAY: gateway = "", NIGHTDESK_SECRET: secret = "" } = process.env;
  return new NightdeskAdapter({ url: NIGHTDESK_URL, login: { gateway, secret }, ...config });
}

/** Calls a verifier as the Chat SDK defines it. */
function verifierOf(isGood: NonNullable<NightdeskAdapterConfig["webhookVerifier"]>): Verify {
  return async (request, body) => {
    try {
      if (await isGood(request, body)) return request.headers.get("webhook-id") ?? crypto.randomUUID();
    } catch {
      // The error's text may contain the proof.
    }
    throw new VerificationError("the verifier refused the webhook");
  };
}
