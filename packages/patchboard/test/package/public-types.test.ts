import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/server-process.ts';
import { exportedNames, missingTypes, problemsIn, programOf } from './public-types.ts';

const ENTRY = join(ROOT, 'packages/patchboard/src/index.ts');
const TESTING = join(ROOT, 'packages/patchboard/src/testing/index.ts');
const USER = join(ROOT, 'docs', 'a-program-of-a-user.ts');
const READER = join(ROOT, 'docs', 'a-reader-of-all-types.ts');

/** What a program of an embedder names, and what it must not get past the compiler. */
const PROGRAM = `
import { createPatchboard, Agent, failure, tool } from 'patchboard';
import type {
  AgentOptions, ContentBlock, FailureCode, Hooks, JsonSchema, Limits, Message, PermissionConfig, PolicyDocument,
  PolicyRule, PostHookResult, RegisteredTool, Scope, StopReason, ToolAnnotations, ToolCallRecord, ToolCallState,
  ToolContext, ToolOutcome, WorkspaceOptions,
} from 'patchboard';

const limits: Partial<Limits> = { resultBytes: 1000 };
const rule: PolicyRule = { tools: 'shop.*', effect: 'ask', when: [{ arg: '/cents', gt: 5_000 }], reason: 'much' };
const permission: PermissionConfig = { mode: 'ask', autoAllowTools: ['fs_read'], rules: [rule] };
const policy: PolicyDocument = { default: permission, agents: { manager: { mode: 'auto' } } };
const outcome: ToolOutcome = { content: { ok: true } };
const hooks: Hooks = { postToolUse: (): PostHookResult => ({ replace: outcome }) };
const workspace: WorkspaceOptions = { root: './files', create: true };
const board = await createPatchboard({ limits, policy, hooks, workspace, retain: 100, tools: [tool('a', () => 1)] });
const record: ToolCallRecord = await board.call('a');
const state: ToolCallState = record.state;
const code: FailureCode = failure('tool_failed').code;
const tools: readonly RegisteredTool[] = board.tools();
const schema: JsonSchema | undefined = tools[0]?.inputSchema;
const annotations: ToolAnnotations | undefined = tools[0]?.annotations;
const scopes: readonly Scope[] = ['tools:call'];
await board.createKey({ kind: 'agent', name: 'ada', scopes });
declare const model: AgentOptions['model'];
const agent = new Agent({ board, model, permission: { rules: [{ tools: ['a'], effect: 'deny' }] } });
const reason: StopReason = (await agent.send('hello')).reason;
const blocks: readonly ContentBlock[] = agent.messages.flatMap(({ content }: Message): readonly ContentBlock[] => content);
const work = (_args: unknown, { services, sandbox }: ToolContext) => [services?.todo, services?.filePool, sandbox];
const speaker = (_args: unknown, { origin }: ToolContext): string | undefined => origin?.npcId ?? origin?.mcpClient?.name;

export const used = [state, code, schema, annotations, reason, blocks, work];

// @ts-expect-error no such effect
const badRule: PolicyRule = { tools: 'a', effect: 'maybe' };
// @ts-expect-error no such mode
await createPatchboard({ policy: { default: { mode: 'sometimes' } } });
// @ts-expect-error no such key
await createPatchboard({ policy: { defualt: {} } });
// @ts-expect-error a rule has an effect
new Agent({ board, model, permission: { rules: [{ tools: 'a' }] } });
// @ts-expect-error a workspace is an object
await createPatchboard({ workspace: './files' });
// @ts-expect-error services may be absent
const careless = ({ services }: ToolContext) => services.todo;
export const refused = [badRule, careless];
`;

describe('the types of the library', { timeout: 120_000 }, () => {
  const names = exportedNames(ENTRY);
  const reader = `import type { ${names.join(', ')} } from 'patchboard';\nexport type { ${names.join(', ')} };\n`;
  const files = new Map([[USER, PROGRAM]]).set(READER, reader);
  const program = programOf(files, [ENTRY, TESTING]);

  it.each([
    ['patchboard', ENTRY],
    ['patchboard/testing', TESTING],
  ])('are all exported that a signature of %s mentions', (_name, entry) => {
    expect(missingTypes(program, entry)).toEqual([]);
  });

  it('take the program of a user, and refuse what is wrong in it', () => {
    expect(problemsIn(program, USER)).toEqual([]);
  });

  it('can each be named by a program', () => {
    expect(names.length).toBeGreaterThan(150);
    expect(problemsIn(program, READER)).toEqual([]);
  });
});
