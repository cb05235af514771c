import { CALL_WAIT, EXCHANGE_WAIT_MAX } from "./limits.js";
import { DeskHttp, segment } from "./http.js";
import type { Login } from "./login.js";

/** A letter to an agent. */
export interface Letter {
  /** A name or id within the tenant, or the id of another tenant's agent; a session may follow after an `@`. */
  agent: string;
  message: string;
  /** `augment`: to know; `template`: to do. */
  kind?: "augment" | "template";
  /** The idempotency key: the same key again is the same letter. Without it, every call sends another letter. */
  dispatch_id?: string;
  event_type?: string;
  correlation_id?: string;
  /** Wakes this session of the agent, in place of the one in its address. */
  session_id?: string;
  /** Wakes the agent with the letter at this time, in milliseconds. */
  when?: number;
}

/** The result of a letter on one way. */
export interface Dispatched {
  connector: string;
  ok: boolean;
  route: "deliver" | "wake";
  delivered?: { delivered_at: number; delivery_id?: string; delivery_skipped?: boolean; warnings?: string[] };
  woken?: { woken_at: number; woken: boolean; session_id?: string; warnings?: string[] };
  cause?: string;
  error?: string;
}

export type Reply = { correlation_id: string; content: string; sent_at: number; agent_id: string };

/** A letter, and the result of each way. */
export type LetterSent = { agent: string; dispatch_id: string; dispatched: Dispatched[]; response?: Reply };

/** A letter that the agent sent, and its state. Further fields: openapi.json. */
export type SentLetter = { letter_id: string; state: string; reply?: string; [further: string]: unknown };

/** An agent that can be written to. Its status is `active`, `idle`, `asleep` or `unknown`. */
export type ReachableAgent = { agent_id: string; agent_name?: string; status: string };

export type SkillStatus = "Draft" | "Approved" | "Disabled";

export type SkillEntry = { name: string; description?: string; [further: string]: unknown };

/** Skills, grouped by use. */
export type Catalogue = Partial<Record<"receives" | "skills" | "headless", SkillEntry[]>> & CatalogueVersion;
type CatalogueVersion = { catalog_version?: string; not_modified?: boolean };

/** A version of a skill. */
export type SkillVersion = { name: string; version: string; status: SkillStatus };
export type Skill = SkillVersion & { source: string };
export type SkillWritten = SkillVersion & { content_hash: string };
export type SkillChange = SkillVersion & { previous_status?: SkillStatus; changed_by?: string };

/** Data to store. It is hidden after `expires_at`, in seconds. */
export type NewData = {
  content: string;
  tags?: string[];
  recipients?: string[];
  expires_at?: number;
  metadata?: object;
};

export type DataEntry = { id: string; summary: string; detail?: string; [further: string]: unknown };

/**
 * Letters to other agents, and the skills and data that the agents of a tenant share. Nothing is retried: the calls throw
 * a `CallError`, and its `passes` tells if the same call may succeed later. What is read and does not exist is undefined.
 */
export class Peers {
  readonly #desk: DeskHttp;

  constructor(settings: { url: string; login: Login }) {
    this.#desk = new DeskHttp(settings);
  }

  async listAgents(): Promise<ReachableAgent[]> {
    return (await this.#desk.json<{ agents: ReachableAgent[] }>("list agents", "/v1/agents")).agents;
  }

  /** Sends a letter by its address: with an `@` the agent is woken with it, otherwise it is delivered. */
  notify(letter: Letter): Promise<LetterSent> {
    return this.#post("send a letter", "/v1/letters", { op: "notify", ...letter });
  }

  deliver(letter: Letter): Promise<LetterSent> {
    return this.#post("send a letter", "/v1/letters", { op: "deliver", ...letter });
  }

  /** Wakes an agent with a letter, now or at its `when`. */
  wake(letter: Letter): Promise<LetterSent> {
    return this.#post("wake an agent", "/v1/letters", { op: "wake", ...letter });
  }

  /** Delivers a letter and waits for the reply, at most five minutes. Without a reply it throws `no-reply`. */
  async exchange(letter: Letter, waitMs: number): Promise<Reply> {
    const timeout_ms = Math.min(waitMs, EXCHANGE_WAIT_MAX);
    const request = { op: "exchange", ...letter, timeout_ms };
    const waitAll = timeout_ms + CALL_WAIT;
    const { response } = await this.#post<LetterSent>("exchange letters", "/v1/letters", request, waitAll);
    if (response === undefined) throw new TypeError("the desk's response has no reply");
    return response;
  }

  /** Returns a page of letters that the agent sent, newest first: the first page, or those older than a letter. */
  async letters(before?: string): Promise<SentLetter[]> {
    const path = `/v1/letters${query({ before })}`;
    return (await this.#desk.json<{ letters: SentLetter[] }>("list letters", path)).letters;
  }

  letter(id: string): Promise<SentLetter | undefined> {
    return this.#desk.find("read a letter", `/v1/letters/${segment(id)}`);
  }

  /** Returns the approved skills for agents, or those that a filter of docs/shelf.md selects. */
  skillList(filter: Record<string, string> = {}): Promise<Catalogue> {
    return this.#desk.json("list skills", `/v1/skills${query(filter)}`);
  }

  skillRead(name: string, version?: string): Promise<Skill | undefined> {
    return this.#desk.find("read a skill", `/v1/skills/${segment(name)}${query({ version })}`);
  }

  /** Returns the history of a skill, newest first. */
  skillVersions(name: string): Promise<SkillChange[] | undefined> {
    return this.#desk.find("list the changes of a skill", `/v1/skills/${segment(name)}/versions`);
  }

  /** Stores a skill: headers first. `overwrite` replaces the agent's existing skill of that name. */
  skillWrite(skill: { name: string; source: string; overwrite?: boolean }): Promise<SkillWritten> {
    return this.#post("write a skill", "/v1/skills", skill);
  }

  skillStatus(name: string, status: SkillStatus): Promise<SkillChange> {
    return this.#post("change the status of a skill", `/v1/skills/${segment(name)}/status`, { status });
  }

  /** Returns the entries with all of these words, the best first; without words the newest. Filters: docs/shelf.md. */
  async dataQuery(words: string, filters: { limit?: number } & Record<string, unknown> = {}): Promise<DataEntry[]> {
    const request = { ...filters, query: words };
    return (await this.#post<{ items: DataEntry[] }>("query data", "/v1/data/query", request)).items;
  }

  dataRead(id: string): Promise<DataEntry | undefined> {
    return this.#desk.find("read data", `/v1/data/${segment(id)}`);
  }

  dataWrite(data: NewData): Promise<{ id: string; created_at: number }> {
    return this.#post("write data", "/v1/data", data);
  }

  #post<T>(what: string, path: string, body: object, waitMs?: number): Promise<T> {
    return this.#desk.json(what, path, { body, waitMs });
  }
}

function query(parameters: Record<string, string | undefined>): string {
  const set = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
}
