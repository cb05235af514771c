import { SkillNotFoundError, StorageConflictError, VersionNotFoundError } from "./errors.js";
import { ShelfStore, capabilities } from "./shelf-store.js";
import type {
  ManifestInfo,
  SkillFilter,
  SkillMeta,
  SkillSource,
  SkillStatus,
  SkillStore,
  SkillStoreManifest,
  StoreCapabilities,
  VersionInfo,
} from "./store-contract.js";
import { bodyOf } from "./store-errors.js";

const TYPE = "skill_store";

/**
 * Keeps skills on the shelf of a desk, which the agents of a tenant share. The desk takes the author from the
 * credentials, and never from the metadata of a call.
 */
export class NightdeskSkillStore extends ShelfStore implements SkillStore {
  protected readonly type = TYPE;

  static staticCapabilities(): StoreCapabilities<typeof TYPE> {
    return capabilities(TYPE, {
      supports_writes: true,
      supports_versioning: true,
      supports_tag_filter: true,
      supports_audit_trail: true,
      supports_atomic_status_transitions: true,
    });
  }

  load(name: string, version?: string): Promise<SkillSource> {
    return this.call(async () => {
      const asked = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
      const answer = await this.desk.shelf("GET", `${path(name)}${asked}`);
      if (answer.status === 404 && version !== undefined) {
        await this.current(name);
        throw new VersionNotFoundError(name, version);
      }
      const { status: _, ...skill } = bodyOf<SkillSource & { status: SkillStatus }>(TYPE, answer, name);
      return skill;
    });
  }

  query(filter: SkillFilter = {}): Promise<SkillMeta[]> {
    return this.call(async () => (await this.catalogue(filter)).skills);
  }

  metadata(name: string): Promise<SkillMeta> {
    return this.call(async () => (await this.current(name)).metadata);
  }

  versions(name: string): Promise<VersionInfo[]> {
    return this.call(async () => bodyOf(TYPE, await this.desk.shelf("GET", `${path(name)}/versions`), name));
  }

  /** Stores the bytes as they are. Of the metadata, the status and the bag count; the desk reads the rest in the bytes. */
  store(name: string, source: string, metadata: Partial<SkillMeta> = {}): Promise<VersionInfo> {
    const { status, metadata_bag } = metadata;
    const body = { name, source, overwrite: true, status, metadata_bag };
    return this.call(async () => bodyOf(TYPE, await this.desk.shelf("POST", "/v1/skills", body), name));
  }

  /** Refuses: only an operator removes a skill of the desk. A missing skill is told apart. */
  delete(name: string): Promise<void> {
    return this.call(async () => {
      await this.current(name);
      throw new StorageConflictError(name, "an operator removes it with `nightdesk skill delete`");
    });
  }

  update_status(name: string, status: SkillStatus): Promise<VersionInfo> {
    return this.call(async () => bodyOf(TYPE, await this.desk.shelf("POST", `${path(name)}/status`, { status }), name));
  }

  async manifest(): Promise<ManifestInfo<SkillStoreManifest>> {
    return { capabilities_version: "1.0.0", manifest: { kind: "nightdesk" } };
  }

  /** Returns a token that changes with every change of any skill. No skill is read for it. */
  version(): Promise<string> {
    return this.call(async () => (await this.catalogue({ limit: 0 })).version);
  }

  private async current(name: string): Promise<SkillSource> {
    return bodyOf(TYPE, await this.desk.shelf("GET", path(name)), name);
  }

  private async catalogue(filter: SkillFilter): Promise<{ skills: SkillMeta[]; version: string }> {
    return bodyOf(TYPE, await this.desk.shelf("POST", "/v1/skill-query", filter));
  }
}

/** Returns the path of a skill. A name that no URL can carry is that of no skill. */
function path(name: string): string {
  if (!/^[A-Za-z0-9][\w\-.]*$/.test(name)) throw new SkillNotFoundError(name);
  return `/v1/skills/${name}`;
}
