import { reason, type JsonSchema, type Reason, type ToolAnnotations } from '@patchboard/wire';
import { canonicalJson } from '@patchboard/wire/json';
import type { Schemas } from '../../core/ports.ts';
import { visibleLine } from '../../core/tools/tool-names.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { argumentNames } from './argument-names.ts';
import type { ListedOperation } from './operation-list.ts';
import { operationAddress } from './operation-names.ts';
import { parametersOf } from './operation-parameters.ts';
import { OperationProblem, problemOf } from './operation-problem.ts';
import { securityOf } from './operation-security.ts';
import { serverOf } from './operation-server.ts';
import { operationText } from './operation-text.ts';
import type { Operation } from './operation.ts';
import type { Description } from './read-description.ts';
import { bodyOf } from './request-body.ts';
import { SchemaBundle } from './schema-bundle.ts';
import { successResponse } from './success-response.ts';

/** The properties of methods in RFC 9110, 9.2. Safe methods are marked idempotent too, because the engine retries only such tools. */
const ANNOTATIONS: Readonly<Record<string, ToolAnnotations>> = {
  get: { readonly: true, idempotent: true },
  head: { readonly: true, idempotent: true },
  options: { readonly: true, idempotent: true },
  put: { idempotent: true },
  delete: { idempotent: true, destructive: true },
  post: {},
  patch: {},
};

export interface OperationToolsParts {
  readonly schemas: Schemas;
  /** The longest description of a tool. */
  readonly descriptionBytes: number;
}

type Output = { readonly schema: JsonSchema | null } | { readonly schema: null; readonly problem: Reason };

/** Converts the operations of one description. */
export class OperationTools {
  readonly #description: Description;
  readonly #parts: OperationToolsParts;
  readonly #inputs: SchemaBundle;
  readonly #outputs: SchemaBundle;

  constructor(description: Description, parts: OperationToolsParts) {
    this.#description = description;
    this.#parts = parts;
    this.#inputs = new SchemaBundle(description, 'input', parts.schemas);
    this.#outputs = new SchemaBundle(description, 'output', parts.schemas);
  }

  /** Returns the tool of an operation. Its schemas compile. Throws an `OperationProblem`. */
  toolOf(listed: ListedOperation, name: string): UpstreamTool {
    const { method, path, operation } = listed;
    const annotations = ANNOTATIONS[method];
    if (annotations === undefined)
      throw new OperationProblem(reason('operation_method', { method: method.toUpperCase() }));
    const described = bodyOf(listed, this.#description);
    const parameters = parametersOf(listed, this.#description);
    const names = argumentNames(parameters, described !== null);
    const members = parameters.map(({ schema, required, notes }, index) => ({
      name: names[index] ?? '',
      schema,
      required,
      notes,
    }));
    const { schemas, accept } = successResponse(listed, this.#description);
    const server = serverOf(listed, this.#description);
    const target: Operation = {
      method: method.toUpperCase(),
      path,
      ...(server === undefined ? {} : { server }),
      parameters: parameters.map(
        ({ required: _required, schema: _schema, notes: _notes, ...rest }, index) => ({
          ...rest,
          argument: names[index] ?? '',
        }),
      ),
      body: described?.body ?? null,
      security: securityOf(operation, this.#description),
      ...(accept.length === 0 ? {} : { accept }),
    };
    const inputSchema = this.#inputs.object(described === null ? members : [...members, described.member]);
    const compiled = this.#parts.schemas.compile(inputSchema, 'outside');
    if (!compiled.ok) throw new OperationProblem(compiled.problem);
    const output = this.#outputOf(schemas);
    return {
      name,
      description: operationText(operation, this.#parts.descriptionBytes),
      inputSchema,
      outputSchema: output.schema,
      annotations,
      metadata: metadataOf(listed, output),
      target,
    };
  }

  /**
   * A result has a schema if all responses have the same one. A schema beyond the limits is left out, with the problem in
   * the metadata: the operation can be called without it.
   */
  #outputOf(given: readonly unknown[]): Output {
    let bundled: readonly JsonSchema[];
    try {
      bundled = given.map((schema) => this.#outputs.whole(schema));
    } catch (error) {
      const problem = problemOf(error);
      if (problem.code === 'schema_over_bytes') return { schema: null, problem };
      throw error;
    }
    const [schema, ...others] = bundled;
    if (schema === undefined) return { schema: null };
    const text = canonicalJson(schema);
    if (others.some((other) => canonicalJson(other) !== text)) return { schema: null };
    const compiled = this.#parts.schemas.compile(schema, 'outside');
    return compiled.ok ? { schema } : { schema: null, problem: compiled.problem };
  }
}

function metadataOf(listed: ListedOperation, output: Output): Readonly<Record<string, unknown>> {
  const tags = listed.operation['tags'];
  const named = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
  return {
    operation: visibleLine(operationAddress(listed)),
    ...(listed.id === null ? {} : { operation_id: visibleLine(listed.id) }),
    ...(named.length === 0 ? {} : { tags: named.map(visibleLine) }),
    ...('problem' in output ? { output_schema_left_out: output.problem } : {}),
  };
}
