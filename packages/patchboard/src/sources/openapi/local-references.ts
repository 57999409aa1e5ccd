import { reason } from '@patchboard/wire';
import { isRecord, fragmentText, valueAt, type JsonObject } from '@patchboard/wire/json';
import { visibleLine } from '../../core/tools/tool-names.ts';
import { OperationProblem } from './operation-problem.ts';

/** The most references that may lead from one to the next. */
const MAX_CHAIN = 32;
const SHOWN_CHARACTERS = 200;

/** What `$Refs` of json-schema-ref-parser is used for. */
interface Resolver {
  get(path: string, options: object): unknown;
}

/** Resolves the `$ref`s of a description within it. No file is read and no URL is fetched. */
export class LocalReferences {
  readonly #document: JsonObject;
  readonly #resolver: Resolver;
  /** A reference has the same object as its target each time, so that conversions can be kept by object. */
  readonly #targets: Map<string, unknown> = new Map();

  private constructor(document: JsonObject, resolver: Resolver) {
    this.#document = document;
    this.#resolver = resolver;
  }

  static async of(document: JsonObject): Promise<LocalReferences> {
    const { $RefParser } = await import('@apidevtools/json-schema-ref-parser');
    const resolver = await new $RefParser().resolve('description', document, {
      resolve: { external: false },
    });
    return new LocalReferences(document, resolver as Resolver);
  }

  /** Returns what the reference points to, at the end of a chain of references. Throws an `OperationProblem`. */
  target(reference: string): unknown {
    if (this.#targets.has(reference)) return this.#targets.get(reference);
    const found = this.#resolve(reference);
    this.#targets.set(reference, found);
    return found;
  }

  /** Returns the target of a Reference Object, and any other value as it is. */
  follow(value: unknown): unknown {
    return isRecord(value) && typeof value['$ref'] === 'string' ? this.target(value['$ref']) : value;
  }

  #resolve(reference: string): unknown {
    this.#refuseOutside(reference);
    let found: unknown;
    try {
      found = this.#resolver.get(reference, { dereference: { maxDepth: MAX_CHAIN } });
    } catch {
      throw missing(reference);
    }
    // A chain that leads back to itself ends in a reference.
    if (found === undefined || (isRecord(found) && typeof found['$ref'] === 'string'))
      throw missing(reference);
    return found;
  }

  /** The parser's error does not say which reference of a chain points outside. */
  #refuseOutside(reference: string): void {
    let here = reference;
    for (let step = 0; step < MAX_CHAIN; step += 1) {
      if (!here.startsWith('#'))
        throw new OperationProblem(reason('operation_reference_outside', { reference: shown(here) }));
      const value = valueAt(this.#document, fragmentText(here.slice(1)));
      const next = isRecord(value) ? value['$ref'] : undefined;
      if (typeof next !== 'string') return;
      here = next;
    }
  }
}

function missing(reference: string): OperationProblem {
  return new OperationProblem(reason('operation_reference_missing', { reference: shown(reference) }));
}

function shown(reference: string): string {
  return visibleLine(reference.slice(0, SHOWN_CHARACTERS));
}
