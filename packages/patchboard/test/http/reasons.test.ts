import { isReasonView, reason } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callJson } from '../../src/transports/shared/views/call-view.ts';
import { aServer, OPERATOR_TOKEN, type TestServer } from './support/a-server.ts';
import { add, danger, echo } from './support/toy-tools.ts';

let server: TestServer;
beforeAll(async () => {
  server = await aServer({ tools: [add, danger, echo] });
});
afterAll(async () => {
  await server.close();
});

const OPERATOR = { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } };
const WAIT = { headers: { prefer: 'wait=10' } };

describe('why, as data beside the sentence', () => {
  it('is in the record of a call, in the list of approvals and in the ledger', async () => {
    const ran = await server.post('/v1/tools/echo/invoke', { run_id: 'r', args: {} }, WAIT);
    expect(ran.json.decision).toMatchObject({
      reason: 'the tool is not marked as risky',
      reasons: [reason('tool_not_risky')],
    });
    const asked = await server.post('/v1/tools/danger/invoke', { run_id: 'r', args: {} });
    const { json } = await server.get('/v1/approvals', OPERATOR);
    const destructive = { reason: 'the tool is destructive', reasons: [reason('tool_destructive')] };
    expect(json.approvals).toMatchObject([{ tool_call_id: asked.json.tool_call_id, ...destructive }]);
    const rows = await server.get('/v1/ledger', OPERATOR);
    const bodyOf = (kind: string): unknown =>
      rows.json.rows.find((row: { kind: string; tool_call_id: string }) => {
        return row.kind === kind && row.tool_call_id === asked.json.tool_call_id;
      })?.body;
    expect(bodyOf('permission_required')).toMatchObject(destructive);
    expect(bodyOf('call.state')).toMatchObject({ decision: destructive });
  });

  it('is in an explanation, for each line that matches', async () => {
    const document = { default: { mode: 'deny', autoAllowTools: ['e*'], rules: [] } };
    const { json } = await server.post('/v1/policy/explain', { tool_name: 'echo', document }, OPERATOR);
    expect(json).toMatchObject({
      reason: 'the pattern e* matches the tool',
      reasons: [{ code: 'pattern_matched' }],
    });
    expect(json.also_matched).toMatchObject([
      { reasons: [{ code: 'policy_mode', params: { mode: 'deny' } }] },
    ]);
  });

  it('is in the report on a reply, and a code of the report stays as it was', async () => {
    const text =
      '<<<[TOOL_REQUEST]>>>tool_name:「始」math.add「末」a:「始」one「末」<<<[END_TOOL_REQUEST]>>>';
    const { json } = await server.post('/v1/parse', { protocol: 'vcp', text });
    expect(json.errors).toMatchObject([
      {
        code: 'input_invalid',
        message: '"a" must be an integer',
        reasons: [{ code: 'argument', params: { name: 'a', problem: [{ code: 'argument_type' }] } }],
      },
      { code: 'input_invalid', message: '"b" is required' },
    ]);
    expect(json.requests[0].arguments[0]).toMatchObject({
      problem: 'must be an integer',
      reasons: [reason('argument_type', { type: 'integer' })],
    });
  });

  it('is in a refusal', async () => {
    const { json } = await server.post('/v1/tools/ehco/invoke', { run_id: 'r', args: {} });
    expect(json).toMatchObject({
      detail: 'tool not found: ehco; did you mean echo?',
      reasons: [reason('tool_unknown_near', { tool: 'ehco', meant: 'echo' })],
    });
    expect(json.reasons.every(isReasonView)).toBe(true);
  });

  it('is in the refusal of a policy, and in each of its problems', async () => {
    const document = { default: { mode: 'maybe', rules: [{ tools: 'x', effect: 'perhaps' }] } };
    const headers = { ...OPERATOR.headers, 'content-type': 'application/json' };
    const sent = { method: 'PUT', headers, body: JSON.stringify({ document }) };
    const json = await (await fetch(`${server.url}/v1/policy`, sent)).json();
    const problem = [reason('issue_enum', { values: 'auto, ask, deny, custom' })];
    expect(json).toMatchObject({
      detail: 'policy/default/mode must be one of auto, ask, deny, custom',
      reasons: [reason('request_issue', { place: 'policy/default/mode', problem })],
      errors: [
        { path: '/default/mode', message: 'must be one of auto, ask, deny, custom', reasons: problem },
        { path: '/default/rules/0/effect', reasons: [reason('policy_effect_unknown')] },
      ],
    });
  });

  it('is in the rejection of a tool, down to the place in its schema', async () => {
    const schema = { type: 'object', properties: { a: { minLength: 'x' } } };
    const tools = [{ name: 'bad', description: '', schema }];
    const { json } = await server.post('/internal/tools/register', { client_id: 'phone', tools });
    const place = { pointer: '/properties/a/minLength', problem: [reason('must_be_count')] };
    expect(json.rejected).toEqual([
      {
        name: 'bad',
        code: 'schema_invalid',
        reason: 'schema: at /properties/a/minLength: must be a whole number, 0 or more',
        reasons: [reason('at_place', { place: 'schema', problem: [reason('schema_at', place)] })],
      },
    ]);
  });

  it('is absent where a record of a former version has the sentence only', async () => {
    const ran = await server.post('/v1/tools/echo/invoke', { run_id: 'r', args: {} }, WAIT);
    const stored = await server.store.findCall(ran.json.tool_call_id);
    if (stored === undefined) throw new Error('the call is not stored');
    const { reasons: _reasons, ...decision } = stored.decision;
    const shown = JSON.parse(callJson({ ...stored, decision }, null)) as { decision: object };
    expect(shown.decision).toEqual({
      effect: 'allow',
      rule: 'annotations',
      reason: 'the tool is not marked as risky',
      policy_version: stored.decision.policyVersion,
    });
  });
});
