import { reason, WIRE_LIMITS, type JsonSchema } from '@patchboard/wire';
import { isRecord, fragmentText, pointerParts, type JsonObject } from '@patchboard/wire/json';
import type { Schemas } from '../../core/ports.ts';
import type { Direction } from './hidden-properties.ts';
import { OperationProblem } from './operation-problem.ts';
import type { Description } from './read-description.ts';
import { convertSchema } from './schema-dialect.ts';

/** A member of a tool's input. */
export interface Member {
  readonly name: string;
  /** As the description has it; undefined: any value. */
  readonly schema: unknown;
  readonly required: boolean;
  /** Keywords that are added to the schema, such as `description`. */
  readonly notes: JsonObject;
}

/** A schema without the definitions that it refers to. */
interface Converted {
  readonly schema: unknown;
  /** The references of the description that it contains. */
  readonly references: ReadonlySet<string>;
  readonly characters: number;
}

/**
 * Converts the schemas of a description for one direction. A schema that is referred to becomes a member of `$defs`, so
 * that recursive schemas stay finite and shared ones are not repeated. Each is converted once.
 */
export class SchemaBundle {
  readonly #description: Description;
  readonly #direction: Direction;
  readonly #schemas: Schemas;
  readonly #patterns: Map<string, boolean> = new Map();
  readonly #converted: WeakMap<object, Converted> = new WeakMap();
  readonly #names: Map<string, string> = new Map();
  readonly #taken: Set<string> = new Set();

  constructor(description: Description, direction: Direction, schemas: Schemas) {
    this.#description = description;
    this.#direction = direction;
    this.#schemas = schemas;
  }

  /** Returns the schema of an object with these members and no others. Throws as `whole` does. */
  object(members: readonly Member[]): JsonSchema {
    const converted = members.map((member) => ({ ...member, ...this.#convert(member.schema) }));
    const required = converted.filter((member) => member.required).map(({ name }) => name);
    const schema = {
      type: 'object',
      properties: Object.fromEntries(converted.map((member) => [member.name, noted(member)])),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    };
    const references = new Set(converted.flatMap((member) => [...member.references]));
    return this.#withDefinitions({ schema, references, characters: JSON.stringify(schema).length });
  }

  /**
   * Returns the schema with the definitions that it reaches. Throws an `OperationProblem` for a reference that cannot be
   * resolved, and for a schema that is larger than that of any tool may be, before all its definitions are collected.
   */
  whole(given: unknown): JsonSchema {
    const converted = this.#convert(given);
    const [only] = converted.references;
    // Some clients need the `type` at the top: a schema that only refers to another becomes a copy of that one.
    const isReference = isRecord(converted.schema) && Object.keys(converted.schema).join() === '$ref';
    if (!isReference || only === undefined) return this.#withDefinitions(converted);
    return this.#withDefinitions(this.#convert(this.#description.references.target(only)));
  }

  #withDefinitions({ schema, references, characters }: Converted): JsonSchema {
    const definitions = new Map<string, unknown>();
    const queue = [...references];
    let total = characters;
    for (let reference = queue.pop(); reference !== undefined; reference = queue.pop()) {
      const name = this.#nameOf(reference);
      if (definitions.has(name)) continue;
      const definition = this.#convert(this.#description.references.target(reference));
      definitions.set(name, definition.schema);
      total += definition.characters;
      if (total > WIRE_LIMITS.schemaBytes)
        throw new OperationProblem(reason('schema_over_bytes', { bytes: WIRE_LIMITS.schemaBytes }));
      queue.push(...definition.references);
    }
    if (!isRecord(schema) || definitions.size === 0) return schema as JsonSchema;
    const sorted = [...definitions].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return { ...schema, $defs: Object.fromEntries(sorted) };
  }

  #convert(given: unknown): Converted {
    if (given === undefined) return ANYTHING;
    if (!isRecord(given)) return { ...ANYTHING, schema: given };
    const known = this.#converted.get(given);
    if (known !== undefined) return known;
    const references = new Set<string>();
    const schema = convertSchema(given, {
      description: this.#description,
      direction: this.#direction,
      refer: (reference) => {
        references.add(reference);
        return `#/$defs/${this.#nameOf(reference)}`;
      },
      canMatch: (pattern) => this.#canMatch(pattern),
    });
    const converted = { schema, references, characters: JSON.stringify(schema).length };
    this.#converted.set(given, converted);
    return converted;
  }

  #canMatch(pattern: string): boolean {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) return known;
    const { ok } = this.#schemas.compile({ pattern }, 'outside');
    this.#patterns.set(pattern, ok);
    return ok;
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const parts = pointerParts(fragmentText(reference.replace(/^#/, '')));
    const isComponent = parts.length === 3 && parts[0] === 'components' && parts[1] === 'schemas';
    const plain = (isComponent ? parts.slice(2) : parts).join('_').replaceAll(/[^\w.-]/g, '_') || 'root';
    let name = plain;
    for (let number = 2; this.#taken.has(name) || name === '__proto__'; number += 1)
      name = `${plain}_${number}`;
    this.#taken.add(name);
    this.#names.set(reference, name);
    return name;
  }
}

const ANYTHING: Converted = { schema: {}, references: new Set(), characters: 5 };

function noted({ schema, notes }: { readonly schema: unknown; readonly notes: JsonObject }): unknown {
  if (schema === true) return notes;
  return isRecord(schema) ? { ...schema, ...notes } : schema;
}
