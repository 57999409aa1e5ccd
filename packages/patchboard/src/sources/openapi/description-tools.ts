import { reason, WIRE_LIMITS, type FailureCode, type Reason, type RejectedTool } from '@patchboard/wire';
import type { Limits } from '../../core/limits.ts';
import type { Schemas } from '../../core/ports.ts';
import { rejected, rejectedTool } from '../../core/tools/registered-tool.ts';
import { shownName } from '../../core/tools/tool-names.ts';
import { specProblem } from '../../core/tools/tool-rules.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { isSelected } from '../shared/name-patterns.ts';
import { upstreamToolName } from '../shared/tool-names.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import { listOperations, type ListedOperation } from './operation-list.ts';
import { groupPattern, operationAddress, operationNames, pathName } from './operation-names.ts';
import { OperationProblem, problemOf } from './operation-problem.ts';
import { OperationTools } from './operation-tool.ts';
import type { Description } from './read-description.ts';

/** The most tools of one description. */
const MAX_TOOLS = WIRE_LIMITS.toolsPerClient;
/** Each operation takes time, also one that is rejected. */
const MAX_OPERATIONS = 10_000;
const MAX_NAME = 128;

export interface DescriptionToolsParts {
  readonly schemas: Schemas;
  readonly limits: Readonly<Limits>;
}

export type DescriptionTools =
  | {
      readonly ok: true;
      readonly tools: readonly UpstreamTool[];
      readonly rejected: readonly RejectedTool[];
      /** How many operations the patterns leave out. */
      readonly unselected: number;
    }
  | { readonly ok: false; readonly problem: Reason };

/**
 * Converts the selected operations of a description to tools, each independently, in the order of the description.
 * Every selected operation is either a tool or rejected with the reason and a pattern for `tools` that helps.
 */
export function toolsOf(
  description: Description,
  { name, tools: patterns }: Pick<OpenApiSettings, 'name' | 'tools'>,
  parts: DescriptionToolsParts,
): DescriptionTools {
  const { operations, unreadable } = listOperations(description);
  if (operations.length > MAX_OPERATIONS)
    return { ok: false, problem: reason('description_many_operations', { count: MAX_OPERATIONS }) };
  const selected = operations.filter((one) => isSelected(operationNames(name, one).spellings, patterns));
  const conversion = new Conversion(description, name, parts);
  for (const listed of selected) conversion.add(listed);
  for (const { path, problem } of unreadable) conversion.rejectPath(path, problem);
  const { tools, rejected: others } = conversion;
  return { ok: true, tools, rejected: others, unselected: operations.length - selected.length };
}

class Conversion {
  readonly tools: UpstreamTool[] = [];
  readonly rejected: RejectedTool[] = [];
  readonly #prefix: string;
  readonly #parts: DescriptionToolsParts;
  readonly #converter: OperationTools;
  /** The operations that have become tools, by the name of the tool. */
  readonly #holders: Map<string, ListedOperation> = new Map();

  constructor(description: Description, prefix: string, parts: DescriptionToolsParts) {
    this.#prefix = prefix;
    this.#parts = parts;
    this.#converter = new OperationTools(description, {
      schemas: parts.schemas,
      descriptionBytes: parts.limits.toolDescriptionBytes,
    });
  }

  add(listed: ListedOperation): void {
    const { own, tool: name } = operationNames(this.#prefix, listed);
    const problem = this.#nameProblem(listed, own, name);
    if (problem !== null) return this.#reject(name, problem.code, problem.why);
    try {
      const tool = this.#checked(this.#converter.toolOf(listed, name));
      this.tools.push(tool);
      this.#holders.set(name, listed);
    } catch (error) {
      const why = { problem: [problemOf(error)], pattern: `!${own}` };
      this.#reject(name, 'schema_invalid', reason('operation_rejected', why));
    }
  }

  /** Rejects a path whose operations are not known. */
  rejectPath(path: string, problem: Reason): void {
    const name = upstreamToolName(this.#prefix, pathName('', path));
    this.#reject(name, 'schema_invalid', problem);
  }

  #nameProblem(
    listed: ListedOperation,
    own: string,
    name: string,
  ): { readonly code: FailureCode; readonly why: Reason } | null {
    const holder = this.#holders.get(name);
    if (holder !== undefined) {
      const [operation, other] = [operationAddress(listed), operationAddress(holder)];
      const why = { name, operation, other, pattern: `!${other}` };
      return { code: 'name_taken', why: reason('operation_name_taken', why) };
    }
    if (name.length > MAX_NAME) {
      const why = { characters: name.length, most: MAX_NAME, pattern: `!${own}` };
      return { code: 'name_invalid', why: reason('operation_name_long', why) };
    }
    if (this.tools.length >= MAX_TOOLS) {
      const why = { count: MAX_TOOLS, pattern: groupPattern(own) };
      return { code: 'too_large', why: reason('operation_over_count', why) };
    }
    return null;
  }

  /** The rules for every tool from outside, without its schemas, which compile. */
  #checked(tool: UpstreamTool): UpstreamTool {
    const { name, description, inputSchema, metadata } = tool;
    const spec = { name, description, schema: inputSchema, ...(metadata === null ? {} : { metadata }) };
    const problem = specProblem(spec, this.#parts.limits);
    if (problem !== null) throw new OperationProblem(problem.reasons[0] as Reason);
    return tool;
  }

  #reject(name: string, code: FailureCode, why: Reason): void {
    this.rejected.push(rejectedTool(shownName(name), rejected(code, why)));
  }
}
