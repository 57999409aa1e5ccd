import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { heritageTool, idFrom, WRITES, type HeritageParts } from '../heritage-tool.ts';
import { described, inputOf, NAME, record, textUpTo, TIME } from '../tool-schemas.ts';

interface Input {
  readonly event_type: string;
  readonly event_data?: Readonly<Record<string, unknown>>;
  readonly user_id?: string;
  readonly session_id?: string;
}

export function logUserEvent(parts: HeritageParts): ServerTool {
  return heritageTool<Input>(parts, {
    name: 'log_user_event',
    category: 'event',
    description: '记录用户事件',
    annotations: WRITES,
    input: inputOf(
      {
        event_type: described(NAME, '事件类型'),
        event_data: { type: 'object', description: '事件数据' },
        user_id: textUpTo(200, '用户 ID；不填则取请求头 X-User-ID'),
        session_id: textUpTo(200, '会话 ID；不填则取请求头 X-Session-ID'),
      },
      ['event_data', 'user_id', 'session_id'],
    ),
    output: record({ event_id: { type: 'string' }, logged_at: TIME }),
    run: async (input, { storage, scope, context, now }) => {
      const { origin } = context;
      const event = await storage.addEvent(scope, {
        id: idFrom('event', context),
        event_type: input.event_type,
        event_data: input.event_data ?? {},
        user_id: input.user_id ?? origin?.userId ?? null,
        session_id: input.session_id ?? origin?.sessionId ?? null,
        logged_at: now,
      });
      return { event_id: event.id, logged_at: event.logged_at };
    },
  });
}
