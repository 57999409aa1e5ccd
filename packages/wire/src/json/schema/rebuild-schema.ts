import { reason } from '../../reasons/reason-text.ts';
import type { JsonSchema } from '../../views.ts';
import { pointerTo } from '../json-pointer.ts';
import { isRecord } from '../is-record.ts';
import { APPLICATORS, type JsonObject, type Reach } from './schema-applicators.ts';
import { toCurrentDraft } from './to-current-draft.ts';
import { FORMATS } from './formats.ts';
import { CHECKS, wrongShape } from './keywords.ts';
import type { CompiledPattern, Pattern } from './patterns.ts';
import { References } from './references.ts';
import { SchemaProblem } from './schema-problem.ts';
import { addVertex, type Vertex } from './in-place-graph.ts';

export interface RebuildRules {
  readonly compilePattern: (source: string) => CompiledPattern;
  readonly maxProperties: number;
  readonly maxChecks: number;
  readonly maxReferences: number;
  readonly maxPatterns: number;
  readonly maxPatternSize: number;
}

/** A validated schema with known keywords only, in which every reference has the form `#/$defs/NUMBER`. */
export interface RebuiltSchema {
  readonly schema: JsonSchema;
  readonly patterns: ReadonlyMap<string, Pattern>;
  /** Which subschemas apply which others to the same value. */
  readonly graph: readonly Vertex[];
}

/**
 * Builds a new schema from the known keywords, with local references only. Throws a `SchemaProblem` with the place of any
 * problem.
 */
export function rebuildSchema(document: unknown, rules: RebuildRules): RebuiltSchema {
  const builder = new Builder(document, rules);
  return builder.build();
}

interface Target {
  readonly index: number;
  readonly vertex: Vertex;
  readonly schema: unknown;
  readonly pointer: string;
}

class Builder {
  readonly #document: unknown;
  readonly #rules: RebuildRules;
  readonly #references: References;
  readonly #graph: Vertex[] = [];
  readonly #patterns = new Map<string, Pattern>();
  readonly #targets = new Map<string, Target>();
  readonly #queue: Target[] = [];
  #checks = 0;
  #properties = 0;
  #patternSize = 0;

  constructor(document: unknown, rules: RebuildRules) {
    this.#document = document;
    this.#rules = rules;
    this.#references = new References(document);
  }

  build(): RebuiltSchema {
    const top = this.#build(this.#document, '', addVertex(this.#graph, ''));
    const definitions: Record<string, JsonSchema> = {};
    for (let target = this.#queue.shift(); target !== undefined; target = this.#queue.shift()) {
      definitions[target.index] = this.#build(target.schema, target.pointer, target.vertex);
    }
    const schema =
      typeof top === 'boolean' || this.#targets.size === 0 ? top : { ...top, $defs: definitions };
    return {
      schema,
      patterns: this.#patterns,
      graph: this.#graph,
    };
  }

  #build(given: unknown, pointer: string, vertex: Vertex): JsonSchema {
    this.#countCheck(pointer);
    if (typeof given === 'boolean') return given;
    if (!isRecord(given)) throw new SchemaProblem(pointer, reason('schema_not_schema'));
    const schema = toCurrentDraft(given);
    const id = schema['$id'];
    if (pointer !== '' && typeof id === 'string' && !id.startsWith('#')) {
      throw new SchemaProblem(pointer, reason('schema_inner_id'));
    }
    const rebuilt: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined) continue;
      const place = pointerTo(pointer, keyword);
      const rebuiltValue = this.#keyword(keyword, value, { schema, vertex, place });
      if (rebuiltValue !== undefined) rebuilt[keyword] = rebuiltValue;
    }
    this.#addReferences(schema, pointer, vertex, rebuilt);
    return rebuilt;
  }

  /** Returns undefined for a keyword that is dropped. */
  #keyword(keyword: string, value: unknown, at: Place): unknown {
    const shape = CHECKS.get(keyword);
    if (shape !== undefined) {
      const problem = wrongShape(shape, value);
      if (problem !== null) throw new SchemaProblem(at.place, problem);
      if (shape === 'format') return FORMATS.has(value as string) ? value : undefined;
      this.#countCheck(at.place);
      if (shape === 'pattern') this.#addPattern(value as string, at.place);
      return value;
    }
    const applicator = APPLICATORS.get(keyword);
    if (applicator === undefined) return undefined;
    // Without `if`, both have no effect.
    if ((keyword === 'then' || keyword === 'else') && at.schema['if'] === undefined) return undefined;
    switch (applicator.holds) {
      case 'one':
        return this.#child(value, at.place, at.vertex, applicator.reach);
      case 'list':
        return this.#list(value, at, applicator.reach);
      case 'by-name':
        return this.#byName(keyword, value, at, applicator.reach);
    }
  }

  #child(value: unknown, pointer: string, parent: Vertex, reach: Reach): JsonSchema {
    const vertex = addVertex(this.#graph, pointer);
    if (reach === 'in-place') parent.inPlace.push(vertex.index);
    return this.#build(value, pointer, vertex);
  }

  #list(value: unknown, at: Place, reach: Reach): JsonSchema[] {
    if (!Array.isArray(value) || value.length === 0) {
      throw new SchemaProblem(at.place, reason('must_be_schemas'));
    }
    return value.map((item, index) => this.#child(item, pointerTo(at.place, index), at.vertex, reach));
  }

  #byName(keyword: string, value: unknown, at: Place, reach: Reach): JsonObject {
    if (!isRecord(value)) throw new SchemaProblem(at.place, reason('must_be_schemas_by_name'));
    const rebuilt: Record<string, JsonSchema> = {};
    for (const [name, member] of Object.entries(value)) {
      const pointer = pointerTo(at.place, name);
      if (keyword === 'properties') this.#countProperty(pointer);
      if (keyword === 'patternProperties') this.#addPattern(name, pointer);
      rebuilt[name] = this.#child(member, pointer, at.vertex, reach);
    }
    return rebuilt;
  }

  #addReferences(
    schema: JsonObject,
    pointer: string,
    vertex: Vertex,
    rebuilt: Record<string, unknown>,
  ): void {
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const reference = schema[keyword];
      if (reference === undefined) continue;
      const place = pointerTo(pointer, keyword);
      if (typeof reference !== 'string') throw new SchemaProblem(place, reason('must_be_string'));
      this.#countCheck(place);
      const target = this.#target(reference, place);
      vertex.inPlace.push(target.vertex.index);
      const link = { $ref: `#/$defs/${target.index}` };
      // A schema can have one `$ref`; a second reference becomes a member of `allOf`.
      if (rebuilt['$ref'] === undefined) rebuilt['$ref'] = link.$ref;
      else rebuilt['allOf'] = [...((rebuilt['allOf'] as JsonSchema[] | undefined) ?? []), link];
    }
  }

  #target(reference: string, place: string): Target {
    const { schema, pointer } = this.#references.resolve(reference, place);
    const known = this.#targets.get(pointer);
    if (known !== undefined) return known;
    if (this.#targets.size >= this.#rules.maxReferences) {
      throw new SchemaProblem(place, reason('schema_many_references', { count: this.#rules.maxReferences }));
    }
    const target = { index: this.#targets.size, vertex: addVertex(this.#graph, pointer), schema, pointer };
    this.#targets.set(pointer, target);
    this.#queue.push(target);
    return target;
  }

  #addPattern(source: string, place: string): void {
    if (this.#patterns.has(source)) return;
    if (this.#patterns.size >= this.#rules.maxPatterns) {
      throw new SchemaProblem(place, reason('schema_many_patterns', { count: this.#rules.maxPatterns }));
    }
    const compiled = this.#rules.compilePattern(source);
    if (!compiled.ok) throw new SchemaProblem(place, compiled.problem);
    this.#patternSize += compiled.pattern.size;
    if (this.#patternSize > this.#rules.maxPatternSize) {
      throw new SchemaProblem(place, reason('schema_large_patterns'));
    }
    this.#patterns.set(source, compiled.pattern);
  }

  #countCheck(pointer: string): void {
    this.#checks += 1;
    if (this.#checks <= this.#rules.maxChecks) return;
    throw new SchemaProblem(pointer, reason('schema_many_checks', { count: this.#rules.maxChecks }));
  }

  #countProperty(pointer: string): void {
    this.#properties += 1;
    if (this.#properties <= this.#rules.maxProperties) return;
    throw new SchemaProblem(pointer, reason('schema_many_properties', { count: this.#rules.maxProperties }));
  }
}

interface Place {
  readonly schema: JsonObject;
  readonly vertex: Vertex;
  readonly place: string;
}
