import type { CallView, MintedKeyView, ReceiptView, StreamEvent, ToolRequest } from '@patchboard/wire';
import { expectTypeOf } from 'vitest';
import {
  createClient,
  isCallStateEvent,
  type FetchLike,
  type PatchboardClient,
  type Submission,
} from './index.ts';

// The runtime's own fetch fits without a cast.
expectTypeOf(globalThis.fetch).toExtend<FetchLike>();

const client = createClient({ url: 'http://127.0.0.1:8080', fetch: globalThis.fetch });
expectTypeOf(client).toEqualTypeOf<PatchboardClient>();
expectTypeOf(client.call('demo.echo', { a: 1 })).resolves.toEqualTypeOf<CallView>();
expectTypeOf(client.invoke('demo.echo')).resolves.toEqualTypeOf<ReceiptView>();

// Results of tools and data of events have type unknown.
expectTypeOf<CallView['result']>().toBeUnknown();
expectTypeOf<StreamEvent['data']>().toBeUnknown();
export async function narrows(): Promise<void> {
  for await (const event of client.events()) {
    if (isCallStateEvent(event)) expectTypeOf(event.data.tool_call_id).toBeString();
  }
  for await (const request of client.provider('phone').requests()) {
    expectTypeOf(request).toEqualTypeOf<ToolRequest>();
  }
}

// @ts-expect-error a failed submission requires an error
export const wrong: Submission = { status: 'FAILED' };
// @ts-expect-error statuses are a closed list
client.calls({ status: 'DONE' });

// What operators do.
expectTypeOf(client.keys.create({ kind: 'agent', name: 'a' })).resolves.toEqualTypeOf<MintedKeyView>();
expectTypeOf(client.ledgerExport()).toEqualTypeOf<AsyncIterableIterator<string>>();
// @ts-expect-error a decision is about what was shown, so it names its digest
export const undigested: Parameters<typeof client.decide>[1] = { decision: 'allow' };
// @ts-expect-error keys of kind local cannot be created
export const local: Parameters<typeof client.keys.create>[0] = { kind: 'local', name: 'a' };
