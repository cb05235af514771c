import type { Answer } from "./desk.js";
import {
  ApprovalRejectedError,
  ConnectorError,
  type ConnectorType,
  QueryError,
  SkillNotFoundError,
  StorageConflictError,
} from "./errors.js";

/**
 * Turns an error of ours into one of the application. A runtime that tests for its own classes with `instanceof` gets
 * them so; each of our errors has the name and the fields of the runtime's class.
 */
export type ErrorMapper = (error: Error) => Error;

/** Returns the body of a success, or throws the error that the desk's problem stands for. */
export function bodyOf<T>(type: ConnectorType, answer: Answer, skill = ""): T {
  const { status, body } = answer;
  if (status >= 200 && status <= 299 && body !== undefined) return body as T;
  const problem = (body ?? {}) as { code?: unknown; title?: unknown; detail?: unknown };
  const words = [problem.title, problem.detail].filter((word) => typeof word === "string").join(": ");
  const reason = words || `the desk answered with ${status}`;
  if (status === 404 && type === "skill_store") throw new SkillNotFoundError(skill);
  if (problem.code === "skill-conflict") throw new StorageConflictError(skill, reason);
  if (problem.code === "not-approved") throw new ApprovalRejectedError(skill, reason);
  if (status === 400) throw new QueryError(type, reason);
  throw new ConnectorError(type, reason);
}
