import type { Call } from '../../core/call/call.ts';

/**
 * Which node holds a call, or ended it, at the version that an object has. It is kept beside the objects, because a call is
 * the same whichever node has it.
 */
export class CallHolders {
  readonly #holders: WeakMap<Call, number | null> = new WeakMap();

  /** The object was read from the store. Null: it was stored by a version that did not record the holder. */
  read(call: Call, holder: number | null): void {
    this.#holders.set(call, holder);
  }

  /** This node has moved the call, and the node that holds it keeps it. */
  keeps(call: Call): void {
    this.#holders.set(call, null);
  }

  /** Returns null if it is not known. What was not read, and does not keep its holder, was moved by `self`. */
  of(call: Call, self: number): number | null {
    const holder = this.#holders.get(call);
    return holder === undefined ? self : holder;
  }
}
