import { SchemaProblem } from './schema-problem.ts';

/** One schema, and the schemas it applies to the same value, as indexes into the graph. */
export interface Vertex {
  readonly index: number;
  readonly pointer: string;
  readonly here: number[];
}

export function addVertex(graph: Vertex[], pointer: string): Vertex {
  const vertex: Vertex = { index: graph.length, pointer, here: [] };
  graph.push(vertex);
  return vertex;
}

/**
 * Refuses a schema that checks one value for ever, or more than `maxChecks` times (a few lines of `allOf` and
 * `$ref` can double thirty times). What multiplies with the depth of the value is met by the step budget.
 */
export function refuseMultiplying(graph: readonly Vertex[], maxChecks: number): void {
  const checks = new Float64Array(graph.length);
  for (const { index, pointer, here } of inOrder(graph).toReversed()) {
    let total = 1;
    for (const applied of here) total += checks[applied] ?? 0;
    if (total > maxChecks)
      throw new SchemaProblem(pointer, 'the schema multiplies: it checks one value too many times');
    checks[index] = total;
  }
}

/** Every schema before those it applies to the same value. */
function inOrder(graph: readonly Vertex[]): readonly Vertex[] {
  const entering = new Int32Array(graph.length);
  for (const { here } of graph) for (const index of here) entering[index] = (entering[index] ?? 0) + 1;
  const order = graph.filter(({ index }) => entering[index] === 0);
  // The list grows while it is read: a schema joins when the last one that applies it has.
  for (const { here } of order) {
    for (const index of here) {
      const left = (entering[index] ?? 0) - 1;
      entering[index] = left;
      const vertex = graph[index];
      if (left === 0 && vertex !== undefined) order.push(vertex);
    }
  }
  const stuck = graph.find(({ index }) => (entering[index] ?? 0) > 0);
  if (stuck === undefined) return order;
  throw new SchemaProblem(stuck.pointer, 'a reference leads back to itself without a step into the value');
}
