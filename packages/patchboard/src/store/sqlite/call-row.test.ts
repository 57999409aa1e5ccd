import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Call } from '../../core/call/call.ts';
import { CALL_COLUMNS, insertCall } from './call-row.ts';
import { CallReader } from './call-reader.ts';
import { MIGRATIONS } from './migrations.ts';

const CALL: Call = {
  id: 'an id',
  tenant: 'a tenant',
  runId: 'a run',
  countsInRun: false,
  agentId: 'an agent',
  toolName: 'a tool',
  toolVersion: 'a version',
  source: 'client',
  clientId: 'a client',
  target: 'a target',
  argsJson: '{"args":1}',
  argsRedacted: true,
  timeoutMs: 11,
  sandbox: 'none',
  traceId: 'a trace',
  spanId: 'a span',
  origin: { siteId: 'a site', npcId: 'a character' },
  replayOf: 'a replayed call',
  parentCallId: 'a parent',
  acceptsInput: ['form', 'sampling'],
  fence: 'a fence',
  createdAt: 12,
  decision: { effect: 'allow', rule: 'a rule', reason: 'a reason', policyVersion: 13 },
  version: 14,
  state: { name: 'COMPLETED', resultJson: '"a result"', resultDigest: 'a digest' },
  approval: null,
  inputs: [
    {
      id: 'in_1',
      key: 'a key',
      round: 1,
      message: 'a question',
      schema: { type: 'string' },
      url: null,
      held: true,
      attempt: 1,
      handlesDecline: false,
      requestedAt: 13,
      expiresAt: 20,
      remainingMs: 5,
      response: { action: 'accept', contentJson: '"an answer"', at: 14 },
    },
  ],
  offered: { 'another key': { action: 'accept', contentJson: '1' } },
  timeline: [
    { state: 'PENDING', at: 12 },
    { state: 'COMPLETED', at: 15 },
  ],
};

describe('a row of calls', () => {
  it('has each value in the column of its name, and is read back as it was', () => {
    const database = new DatabaseSync(':memory:');
    for (const migration of MIGRATIONS) database.exec(migration);
    const names = database.prepare("select name from pragma_table_info('calls')").all();
    expect(new Set(names.map(({ name }) => name))).toEqual(new Set(CALL_COLUMNS));

    const insert = `insert into calls (${CALL_COLUMNS.join()}) values (${CALL_COLUMNS.map(() => '?').join()})`;
    const idempotency = { scope: 'a scope', bodyHash: 'a hash', expiresAt: 16 };
    insertCall(database.prepare(insert), 17, { call: CALL, idempotency } as Parameters<typeof insertCall>[2]);
    const row = database.prepare('select * from calls').get();
    expect(row).toMatchObject({
      no: 17,
      id: 'an id',
      version: 14,
      state: 4,
      created_at: 12,
      ended_at: 15,
      tenant: 'a tenant',
      run_id: 'a run',
      agent_id: 'an agent',
      tool_name: 'a tool',
      tool_version: 'a version',
      source: 'client',
      timeout_ms: 11,
      client_id: 'a client',
      target: 'a target',
      trace_id: 'a trace',
      span_id: 'a span',
      origin: '{"siteId":"a site","npcId":"a character"}',
      replay_of: 'a replayed call',
      parent_call_id: 'a parent',
      fence: 'a fence',
      idempotency_scope: 'a scope',
      idempotency_hash: 'a hash',
      idempotency_expires_at: 16,
      args: '{"args":1}',
      result: '"a result"',
    });
    expect(new CallReader(database).find('an id')).toEqual(CALL);
    database.close();
  });
});
