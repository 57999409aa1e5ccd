// npm run bench -- [--json] [--quick] [P1 P2 …]
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { RunFigure } from './figure.ts';
import { cpuPerRequest } from './figures/cpu-per-request.ts';
import { durableReceipt } from './figures/p1-durable-receipt.ts';
import { wholeLife } from './figures/p2-whole-life.ts';
import { deviceCalls } from './figures/p3-device-calls.ts';
import { mcpCall } from './figures/p4-mcp.ts';
import { sdkCall } from './figures/p5-sdk-call.ts';
import { textProtocol } from './figures/p6-text-protocol.ts';
import { idleDevices } from './figures/p7-idle-devices.ts';
import { search } from './figures/p10-search.ts';
import { upstreamCalls } from './figures/p12-upstream-calls.ts';
import { storedCalls } from './figures/p8-stored-calls.ts';
import { sandboxCosts } from './figures/sandbox.ts';
import { onPostgres } from './figures/p9-postgres.ts';
import { severalNodes } from './figures/several-nodes.ts';
import { describeMachine } from './machine.ts';
import { header, jsonLine, table } from './report.ts';

const FIGURES: ReadonlyMap<string, RunFigure> = new Map([
  ['P1', durableReceipt],
  ['P2', wholeLife],
  ['P3', deviceCalls],
  ['P4', mcpCall],
  ['P5', sdkCall],
  ['P6', textProtocol],
  ['P7', idleDevices],
  ['P8', storedCalls],
  ['P9', onPostgres],
  ['NODES', severalNodes],
  ['CPU', cpuPerRequest],
  ['SANDBOX', sandboxCosts],
  ['P10', search],
  ['P12', upstreamCalls],
]);

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const ids = positionals.length === 0 ? [...FIGURES.keys()] : positionals.map((id) => id.toUpperCase());
const unknown = ids.filter((id) => !FIGURES.has(id));
if (unknown.length > 0) {
  process.stderr.write(
    `no such figure: ${unknown.join(', ')}; there are ${[...FIGURES.keys()].join(', ')}\n`,
  );
  process.exit(2);
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const start = header(describeMachine(), values.quick);
if (values.json) process.stderr.write(start);
else process.stdout.write(start);
for (const id of ids) {
  const figure = await FIGURES.get(id)?.({ quick: values.quick, say });
  if (figure !== undefined) process.stdout.write(values.json ? jsonLine(figure) : table(figure));
}
