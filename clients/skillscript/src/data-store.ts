import { UnsupportedFilterError } from "./errors.js";
import { ShelfStore, capabilities } from "./shelf-store.js";
import type {
  DataStore,
  DataStoreManifest,
  DataWrite,
  DataWriteRecord,
  ManifestInfo,
  PortableData,
  QueryFilters,
  StoreCapabilities,
} from "./store-contract.js";
import { bodyOf } from "./store-errors.js";

const TYPE = "data_store";

/** The filters that the desk applies. A test of the desk compares this list with its own. */
const SUPPORTED_FILTERS = [
  "agent_id",
  "domain_tags",
  "knowledge_type",
  "payload_type",
  "pinned",
  "thread_status",
  "vault",
];

/** Fields of a query that are no filters. */
const BASE = ["query", "limit", "mode", "permissive_filters"];

/** Keeps data on the shelf of a desk, which the agents of a tenant share. */
export class NightdeskDataStore extends ShelfStore implements DataStore {
  protected readonly type = TYPE;

  static staticCapabilities(): StoreCapabilities<typeof TYPE> {
    return capabilities(TYPE, {
      supports_writes: true,
      supports_tag_filter: true,
      supports_semantic: false,
      supports_rerank: false,
      supports_thread_status_filter: true,
      supports_pinning: true,
      supports_decay_model: false,
    });
  }

  /** Returns entries with all words of the query, the best first. An unsupported filter is refused, never dropped. */
  query(filters: QueryFilters): Promise<PortableData[]> {
    return this.call(async () => {
      const answer = await this.desk.shelf("POST", "/v1/data/query", filters);
      if ((answer.body as { code?: unknown } | undefined)?.code === "unsupported-filter") {
        const known = [...BASE, ...SUPPORTED_FILTERS];
        throw new UnsupportedFilterError(
          Object.keys(filters).filter((key) => !known.includes(key)),
          SUPPORTED_FILTERS,
        );
      }
      return bodyOf<{ items: PortableData[] }>(TYPE, answer).items;
    });
  }

  write(write: DataWrite): Promise<DataWriteRecord> {
    return this.call(async () => bodyOf(TYPE, await this.desk.shelf("POST", "/v1/data", write)));
  }

  /** Returns an entry, or null if there is none. */
  get(id: string): Promise<PortableData | null> {
    return this.call(async () => {
      const answer = await this.desk.shelf("GET", `/v1/data/${encodeURIComponent(id)}`);
      return answer.status === 404 ? null : bodyOf(TYPE, answer);
    });
  }

  async manifest(): Promise<ManifestInfo<DataStoreManifest>> {
    const manifest: DataStoreManifest = {
      kind: "nightdesk",
      supported_modes: ["fts"],
      supported_filters: [...SUPPORTED_FILTERS],
      score_range: [0, 1],
    };
    return { capabilities_version: "1.0.0", manifest };
  }
}
