import type { CallView } from '@patchboard/wire';

/** A call with the lines that lead to it in a tree. */
export interface TreeCall {
  readonly call: CallView;
  readonly prefix: string;
}

/**
 * Orders the calls as a tree: those of a sub-agent below the call that started it. Calls whose parent is not in the list are
 * roots.
 */
export function callTree(calls: readonly CallView[]): TreeCall[] {
  const ids = new Set(calls.map((call) => call.tool_call_id));
  const children = new Map<string, CallView[]>();
  const roots: CallView[] = [];
  for (const call of calls) {
    const { parent_call_id: parent } = call;
    if (parent === undefined || !ids.has(parent) || parent === call.tool_call_id) roots.push(call);
    else children.set(parent, [...(children.get(parent) ?? []), call]);
  }
  return roots.flatMap((root) => below(root, '', '', children));
}

function below(
  call: CallView,
  prefix: string,
  indent: string,
  children: ReadonlyMap<string, readonly CallView[]>,
): TreeCall[] {
  const own = children.get(call.tool_call_id) ?? [];
  const nested = own.flatMap((child, at) => {
    const isLast = at === own.length - 1;
    return below(child, `${indent}${isLast ? '└─' : '├─'}`, `${indent}${isLast ? '  ' : '│ '}`, children);
  });
  return [{ call, prefix }, ...nested];
}
