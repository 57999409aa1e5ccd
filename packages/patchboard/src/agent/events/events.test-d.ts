import { expectTypeOf } from 'vitest';
import type { AgentEventOf, AgentEventType, ToolCallSnapshot } from '../../index.ts';

// Every type identifies exactly one kind of event.
type Missing = {
  [Type in AgentEventType]: [AgentEventOf<Type>] extends [never] ? Type : never;
}[AgentEventType];
expectTypeOf<Missing>().toBeNever();

expectTypeOf<AgentEventOf<'tool:start'>['call']>().toEqualTypeOf<ToolCallSnapshot>();
expectTypeOf<AgentEventOf<'permission_required'>['respond']>().toBeFunction();
expectTypeOf<AgentEventOf<'input_required'>['respond']>().parameters.toEqualTypeOf<[content?: unknown]>();
expectTypeOf<AgentEventOf<'text_delta'>['delta']>().toBeString();
