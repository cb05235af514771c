/**
 * SkillStore and DataStore 1.0, as skillscript's runtime calls them. These are types only: the application passes our
 * stores to its runtime, and TypeScript checks that the types match. Times are in seconds.
 */

/** The status of a skill. */
export type SkillStatus = "Draft" | "Approved" | "Disabled";

/** The metadata of a skill. */
export interface SkillMeta {
  name: string;
  version: string;
  content_hash: string;
  status: SkillStatus;
  created_at: number;
  updated_at: number;
  description?: string;
  tags?: string[];
  vars?: string[];
  returns?: string[];
  requires?: string[];
  triggers?: { source: string; name: string; agent_id?: string }[];
  outputs?: string[];
  type?: "procedural" | "data";
  status_changed_at?: number;
  author?: string;
  metadata_bag?: Record<string, unknown>;
}

/** A skill. */
export interface SkillSource {
  name: string;
  version: string;
  content_hash: string;
  source: string;
  metadata: SkillMeta;
}

/** A change of a skill. */
export interface VersionInfo {
  name: string;
  version: string;
  content_hash: string;
  status: SkillStatus;
  previous_status?: SkillStatus;
  changed_at: number;
  changed_by?: string;
}

/** A filter of skills. Unknown fields are ignored. */
export interface SkillFilter {
  status?: SkillStatus | SkillStatus[];
  type?: "procedural" | "data";
  tag?: string | string[];
  author?: string;
  since?: number;
  name_pattern?: string;
  limit?: number;
  offset?: number;
  [further: string]: unknown;
}

/** The description of a store. */
export interface ManifestInfo<M> {
  capabilities_version: string;
  manifest: M;
}

/** The manifest of a store of skills. */
export interface SkillStoreManifest {
  kind: string;
  [further: string]: unknown;
}

/** Type, version and features of a store. */
export interface StoreCapabilities<T extends string> {
  connector_type: T;
  implementation: string;
  contract_version: string;
  features: Record<string, boolean>;
}

/** Interface through which the runtime reads and writes skills. */
export interface SkillStore {
  load(name: string, version?: string): Promise<SkillSource>;
  query(filter?: SkillFilter): Promise<SkillMeta[]>;
  metadata(name: string): Promise<SkillMeta>;
  versions(name: string): Promise<VersionInfo[]>;
  store(name: string, source: string, metadata?: Partial<SkillMeta>): Promise<VersionInfo>;
  delete(name: string): Promise<void>;
  update_status(name: string, status: SkillStatus): Promise<VersionInfo>;
  manifest(): Promise<ManifestInfo<SkillStoreManifest>>;
  version?(): Promise<string>;
}

/** An entry of data. */
export interface PortableData {
  id: string;
  summary: string;
  detail?: string;
  score?: number;
  thread_status?: string;
  pinned?: boolean;
  confidence?: number;
  domain_tags?: string[];
  payload_type?: string;
  knowledge_type?: string;
  recipients?: string[];
  /** `null`: the entry has no end. */
  expires_at?: number | null;
  created_at?: number;
  agent_id?: string;
  vault?: string;
  metadata?: Record<string, unknown>;
}

/** A query of data. Further fields are filters. */
export interface QueryFilters {
  query: string;
  limit?: number;
  mode?: string;
  permissive_filters?: boolean;
  [filter: string]: unknown;
}

/** An entry to write. */
export interface DataWrite {
  content: string;
  tags?: string[];
  recipients?: string[];
  expires_at?: number | null;
  metadata?: Record<string, unknown>;
}

/** The result of a write. */
export interface DataWriteRecord {
  id: string;
  created_at: number;
}

/** The manifest of a store of data. */
export interface DataStoreManifest {
  kind: string;
  supported_modes?: string[];
  supported_filters?: string[];
  score_range?: [number, number];
  [further: string]: unknown;
}

/** Interface through which the runtime reads and writes data. */
export interface DataStore {
  query(filters: QueryFilters): Promise<PortableData[]>;
  write(write: DataWrite): Promise<DataWriteRecord>;
  get(id: string): Promise<PortableData | null>;
  manifest(): Promise<ManifestInfo<DataStoreManifest>>;
}
