import { Desk } from "./desk.js";
import { ConnectorError, type ConnectorType, DeliveryFailedError } from "./errors.js";
import { type Options, optionsFromEnv } from "./options.js";
import type { StoreCapabilities } from "./store-contract.js";
import type { ErrorMapper } from "./store-errors.js";

/** A store on the shelf of a desk, which the agents of a tenant share. */
export abstract class ShelfStore {
  protected abstract readonly type: ConnectorType;
  protected readonly desk: Desk;

  constructor(
    options: Options,
    private readonly mapError: ErrorMapper = (error) => error,
  ) {
    this.desk = Desk.open(options);
  }

  /** Reads `NIGHTDESK_URL`, and `NIGHTDESK_TOKEN` or `NIGHTDESK_GATEWAY` with `NIGHTDESK_SECRET`. */
  static fromEnv<S>(
    this: new (options: Options, mapError?: ErrorMapper) => S,
    env: Record<string, string | undefined> = process.env,
    mapError?: ErrorMapper,
  ): S {
    return new this(optionsFromEnv(env), mapError);
  }

  /** Makes a call, and turns its errors into those of the application. */
  protected async call<T>(make: () => Promise<T>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      const ours = error instanceof DeliveryFailedError ? new ConnectorError(this.type, error.message) : error;
      throw ours instanceof Error ? this.mapError(ours) : ours;
    }
  }
}

/** Returns the description of a store with these features. */
export function capabilities<T extends ConnectorType>(
  type: T,
  features: Record<string, boolean>,
): StoreCapabilities<T> {
  return { connector_type: type, implementation: "nightdesk", contract_version: "1.0.0", features };
}
