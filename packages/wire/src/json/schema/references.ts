import { reason } from '../../reasons/reason-text.ts';
import { fragmentText, pointerTo, valueAt } from '../json-pointer.ts';
import { isRecord } from '../is-record.ts';
import { SchemaProblem } from './schema-problem.ts';

/** Resolves `$ref`s within the document. Never fetches another one. */
export class References {
  readonly #root: unknown;
  readonly #id: string | null;
  #anchors: Map<string, { schema: unknown; pointer: string }> | null = null;

  constructor(root: unknown) {
    this.#root = root;
    const id = isRecord(root) ? root['$id'] : undefined;
    this.#id = typeof id === 'string' && !id.startsWith('#') ? id.replace(/#$/, '') : null;
  }

  /** Throws a `SchemaProblem` if there is no target. `from` is the JSON pointer of the reference itself. */
  resolve(reference: string, from: string): { schema: unknown; pointer: string } {
    const local =
      this.#id !== null && reference.startsWith(this.#id) ? reference.slice(this.#id.length) : reference;
    if (local === '' || local === '#') return { schema: this.#root, pointer: '' };
    const found = local.startsWith('#/') ? this.#follow(local.slice(1)) : this.#anchor(local);
    if (found !== null) return found;
    const code = local.startsWith('#') ? 'schema_reference_missing' : 'schema_reference_outside';
    throw new SchemaProblem(from, reason(code, { reference: JSON.stringify(reference) }));
  }

  #follow(fragment: string): { schema: unknown; pointer: string } | null {
    const pointer = fragmentText(fragment);
    const schema = valueAt(this.#root, pointer);
    return schema === undefined ? null : { schema, pointer };
  }

  #anchor(reference: string): { schema: unknown; pointer: string } | null {
    if (!reference.startsWith('#')) return null;
    if (this.#anchors === null) {
      this.#anchors = new Map();
      this.#collect(this.#root, '', this.#anchors);
    }
    return this.#anchors.get(fragmentText(reference.slice(1))) ?? null;
  }

  /** Treats a dynamic anchor as a plain one: in one document without inner `$id`s they resolve the same. */
  #collect(
    value: unknown,
    pointer: string,
    anchors: Map<string, { schema: unknown; pointer: string }>,
  ): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (typeof member === 'string' && (key === '$anchor' || key === '$dynamicAnchor')) {
        if (!anchors.has(member)) anchors.set(member, { schema: value, pointer });
      } else if (key === '$id' && typeof member === 'string' && member.startsWith('#')) {
        anchors.set(member.slice(1), { schema: value, pointer });
      } else {
        this.#collect(member, pointerTo(pointer, key), anchors);
      }
    }
  }
}
