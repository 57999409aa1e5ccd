import { expect, it } from 'vitest';
import { eventLine } from './event-line.ts';

const plain = { paint: (_colour: unknown, text: string): string => text };
const at = '2026-01-02T03:04:05.678Z';
const of = { at, tool_call_id: 'tc_1' };

it.each([
  [
    'call.state',
    {
      ...of,
      run_id: 'r',
      tool_name: 'camera',
      agent_id: 'a',
      state: 'FAILED',
      status: 'FAILED',
      code: 'timeout',
    },
    `${at}  tc_1  FAILED             camera  timeout`,
  ],
  ['call.progress', { ...of, data: { done: 3 } }, `${at}  tc_1  progress           {"done":3}`],
  [
    'permission_required',
    { ...of, run_id: 'r', tool_name: 'camera', digest: 'd', reason: 'it asks' },
    `${at}  tc_1  permission_required  tool_name: camera, reason: it asks`,
  ],
  [
    'registry.changed',
    { at, client_id: 'phone', registered: ['camera', 'contacts'] },
    `${at}  phone  registry.changed   registered: camera contacts`,
  ],
  ['registry.changed', { at, removed: ['x'] }, `${at}  server  registry.changed   removed: x`],
  [
    'device.changed',
    { at, client_id: 'phone', name: 'pixel\u001b[2J', session: 'ds_1', state: 'away' },
    `${at}  phone  device.changed     name: pixel\\u001b[2J, state: away`,
  ],
])('%s is one line', (type, data, line) => {
  expect(eventLine({ id: '1', type, data }, plain)).toBe(line);
});
