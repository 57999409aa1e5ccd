import { startOf, type TracedCall } from './traced-call.ts';

/** One row of a waterfall. */
export interface TreeRow {
  readonly call: TracedCall;
  readonly depth: number;
  /** Number of direct children. */
  readonly children: number;
  readonly isCollapsed: boolean;
  /** Place among the rows below the same parent, from 1, and how many those are. */
  readonly position: number;
  readonly siblings: number;
}

/**
 * The calls in order of their start, each below its parent; those below a collapsed call are left out. A call whose parent is
 * not among the calls is at the top. Each call has at most one row, also if parents form a circle.
 */
export function treeRows(calls: readonly TracedCall[], collapsed: ReadonlySet<string>): readonly TreeRow[] {
  const sorted = [...calls].sort((one, other) => startOf(one) - startOf(other) || compareIds(one, other));
  const known = new Set(sorted.map(({ id }) => id));
  const below = new Map<string, TracedCall[]>();
  const tops: TracedCall[] = [];
  for (const call of sorted) {
    if (call.parent === null || call.parent === call.id || !known.has(call.parent)) tops.push(call);
    else below.set(call.parent, appended(below.get(call.parent), call));
  }
  const walk = new TreeWalk(below, collapsed);
  walk.visit(tops);
  // Only calls of a circle are left: no top leads to them.
  for (const call of sorted) if (!walk.seen.has(call.id)) walk.visit([call]);
  return walk.rows;
}

class TreeWalk {
  readonly rows: TreeRow[] = [];
  readonly seen: Set<string> = new Set();
  readonly #below: ReadonlyMap<string, readonly TracedCall[]>;
  readonly #collapsed: ReadonlySet<string>;

  constructor(below: ReadonlyMap<string, readonly TracedCall[]>, collapsed: ReadonlySet<string>) {
    this.#below = below;
    this.#collapsed = collapsed;
  }

  /** Uses a stack of its own: a tree may be deeper than the stack of the engine. */
  visit(tops: readonly TracedCall[]): void {
    const stack = this.#entries(tops, 0, false);
    for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
      const { call, depth, isHidden } = entry;
      if (this.seen.has(call.id)) continue;
      this.seen.add(call.id);
      const children = this.#below.get(call.id) ?? [];
      const isCollapsed = this.#collapsed.has(call.id);
      const { position, siblings } = entry;
      if (!isHidden)
        this.rows.push({ call, depth, children: children.length, isCollapsed, position, siblings });
      for (const child of this.#entries(children, depth + 1, isHidden || isCollapsed)) stack.push(child);
    }
  }

  /** In reverse, because the stack returns the last one first. */
  #entries(
    calls: readonly TracedCall[],
    depth: number,
    isHidden: boolean,
  ): { call: TracedCall; depth: number; isHidden: boolean; position: number; siblings: number }[] {
    return calls
      .map((call, index) => ({ call, depth, isHidden, position: index + 1, siblings: calls.length }))
      .reverse();
  }
}

/** Changes the list, because copying it for each call would take quadratic time. */
function appended(list: TracedCall[] | undefined, call: TracedCall): TracedCall[] {
  if (list === undefined) return [call];
  list.push(call);
  return list;
}

function compareIds({ id: one }: TracedCall, { id: other }: TracedCall): number {
  return one < other ? -1 : 1;
}
