// Three hooks on toy tools: deny rules, truncated and masked results, and a cache. node examples/hooks.ts

import { createPatchboard, tool, type Hooks } from 'patchboard';
import { z } from 'zod';

// Rules as data. A command is split into words first: a rule on raw text would miss a second space.
const DANGEROUS = [['rm', '-rf'], ['mkfs'], ['dd']];
const danger: Hooks = {
  preToolUse(call) {
    if (call.name === 'toy.shell') {
      const words = (call.args as { command: string }).command.split(/\s+/);
      const rule = DANGEROUS.find((parts) => parts.every((part) => words.includes(part)));
      if (rule !== undefined)
        return { decision: 'ask', meta: { risk: 'high', reason: `${rule.join(' ')} may destroy something` } };
    }
    if (call.name === 'toy.read' && (call.args as { path: string }).path.includes('.ssh/')) {
      const toolResult = { ok: false, error: 'that file is not for you' }; // sent to the model
      return { decision: 'deny', reason: 'secrets stay here', toolResult };
    }
    return undefined;
  },
};

const tidy: Hooks = {
  postToolUse(_call, result) {
    if (typeof result !== 'string') return undefined;
    const masked = result.replace(/password[=:]\s*\S+/gi, 'password=***');
    return { replace: { content: masked.length > 60 ? `${masked.slice(0, 60)}… (cut)` : masked } };
  },
};

const cached = new Map<string, unknown>();
const cache: Hooks = {
  preToolUse: ({ name, args }) =>
    cached.has(name + JSON.stringify(args)) ? { result: cached.get(name + JSON.stringify(args)) } : undefined,
  postToolUse: ({ name, args, annotations }, result) =>
    void (annotations.readonly === true && cached.set(name + JSON.stringify(args), result)),
};

let reads = 0;
const read = tool({
  name: 'toy.read',
  parameters: z.object({ path: z.string() }),
  metadata: { readonly: true },
  execute: ({ path }) => `${path}, read ${++reads} times. password: hunter2 ${'x'.repeat(80)}`,
});
const shell = tool('toy.shell', ({ command }: { command: string }) => `ran ${command}`);
const board = await createPatchboard({ tools: [read, shell], hooks: [danger, tidy, cache] });
console.log((await board.call('toy.read', { path: 'notes.txt' })).result);
const again = await board.call('toy.read', { path: 'notes.txt' });
console.log(again.result, `(${again.auditTrail.length} states: it was not run again)`);
console.log((await board.call('toy.read', { path: '/home/me/.ssh/id' })).error);
const waiting = await board.invoke('toy.shell', { command: 'rm   -rf /tmp/x' });
console.log(waiting.state);
const denied = await board.decide(waiting.id, 'deny', { note: 'not on my machine' });
console.log(denied.state, denied.approval.note);
console.log((await board.call('toy.shell', { command: 'ls' })).result);
await board.close();
