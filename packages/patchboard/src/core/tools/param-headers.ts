import { reason, type JsonSchema, type Reason } from '@patchboard/wire';
import { isRecord, pointerTo } from '@patchboard/wire/json';

/** The keyword of an input schema by which clients send the value of a parameter in an HTTP header too. */
const KEYWORD = 'x-mcp-header';

/** A parameter with the keyword. */
export interface ParamHeader {
  /** The value of the keyword, which is a part of the header's name. */
  readonly name: string;
  /** A JSON pointer to the value in the arguments. */
  readonly path: string;
  readonly type: string;
}

export type ParamHeaders =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  | { readonly ok: false; readonly problem: Reason };

/** A token of RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PRIMITIVES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** Keywords other than `properties` whose value is a schema, or a list of schemas. */
const SCHEMAS = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'items',
  'prefixItems',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contentSchema',
];
/** Keywords other than `properties` whose value is an object of schemas by name. */
const SCHEMAS_BY_NAME = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/**
 * Reads the parameters with the keyword `x-mcp-header` from an input schema (SEP-2243 of MCP). The schema must have been
 * compiled: its depth is not limited here. `ok` is false for a schema that MCP clients must reject.
 */
export function readParamHeaders(schema: JsonSchema): ParamHeaders {
  const headers: ParamHeader[] = [];
  const problem = new Reader(headers).visit(schema, '', '');
  return problem === null ? { ok: true, headers } : { ok: false, problem };
}

class Reader {
  readonly #headers: ParamHeader[];
  /** Header names are compared without case. */
  readonly #names: Set<string> = new Set();

  constructor(headers: ParamHeader[]) {
    this.#headers = headers;
  }

  /** `path` is null below any keyword other than `properties`, where `x-mcp-header` is not allowed. */
  visit(schema: unknown, pointer: string, path: string | null): Reason | null {
    if (!isRecord(schema)) return null;
    if (Object.hasOwn(schema, KEYWORD)) {
      const problem = this.#take(schema, path);
      if (problem !== null)
        return reason('schema_at', { pointer: pointerTo(pointer, KEYWORD), problem: [problem] });
    }
    const properties = memberOf(schema, 'properties');
    for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
      const place = pointerTo(pointerTo(pointer, 'properties'), name);
      const problem = this.visit(property, place, path === null ? null : pointerTo(path, name));
      if (problem !== null) return problem;
    }
    return this.#visitOthers(schema, pointer);
  }

  #visitOthers(schema: Readonly<Record<string, unknown>>, pointer: string): Reason | null {
    for (const keyword of SCHEMAS) {
      const member = memberOf(schema, keyword);
      const place = pointerTo(pointer, keyword);
      const problem = Array.isArray(member) ? this.#visitAll(member, place) : this.visit(member, place, null);
      if (problem !== null) return problem;
    }
    for (const keyword of SCHEMAS_BY_NAME) {
      const member = memberOf(schema, keyword);
      const problem = isRecord(member) ? this.#visitAll(member, pointerTo(pointer, keyword)) : null;
      if (problem !== null) return problem;
    }
    return null;
  }

  #visitAll(schemas: readonly unknown[] | Readonly<Record<string, unknown>>, pointer: string): Reason | null {
    for (const [key, schema] of Object.entries(schemas)) {
      const problem = this.visit(schema, pointerTo(pointer, key), null);
      if (problem !== null) return problem;
    }
    return null;
  }

  #take(schema: Readonly<Record<string, unknown>>, path: string | null): Reason | null {
    const name = schema[KEYWORD];
    const type = memberOf(schema, 'type');
    if (path === null || path === '') return reason('param_header_misplaced');
    if (typeof name !== 'string' || !TOKEN.test(name)) return reason('param_header_not_token');
    if (typeof type !== 'string' || !PRIMITIVES.has(type)) return reason('param_header_not_primitive');
    if (this.#names.has(name.toLowerCase())) return reason('param_header_twice', { name });
    this.#names.add(name.toLowerCase());
    this.#headers.push({ name, path, type });
    return null;
  }
}

function memberOf(schema: Readonly<Record<string, unknown>>, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
}
