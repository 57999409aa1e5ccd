import type { ToolContext } from '../../core/tools/server-tool.ts';
import type { Clock } from '../../core/ports.ts';
import type { FailureParts } from './call-failures.ts';
import type { McpRequest } from './mcp-connection.ts';

/** Further log messages of a call are dropped. */
const MESSAGES_PER_CALL = 20;
/** Further progress reports are dropped. */
const REPORTS_PER_SECOND = 50;
const TEXT_CHARACTERS = 1000;

/** Passes the progress reports and the log messages of an upstream's call on. */
export function notificationHandler(
  parts: FailureParts & { readonly clock: Pick<Clock, 'elapsed'> },
  context: Pick<ToolContext, 'progress' | 'log'>,
): NonNullable<McpRequest['onNotification']> {
  let messages = 0;
  let secondAt = -Infinity;
  let reports = 0;
  const mayReport = (): boolean => {
    const now = parts.clock.elapsed();
    if (now - secondAt >= 1000) [secondAt, reports] = [now, 0];
    reports += 1;
    return reports <= REPORTS_PER_SECOND;
  };
  return (method, params) => {
    if (method === 'notifications/progress' && mayReport()) context.progress(progressOf(parts, params));
    if (method !== 'notifications/message' || messages === MESSAGES_PER_CALL) return;
    messages += 1;
    const { level, logger, data } = params;
    context.log.info('upstream.message', {
      upstream: parts.upstream,
      level: textOf(parts, level),
      ...(logger === undefined ? {} : { logger: textOf(parts, logger) }),
      message: textOf(parts, data),
    });
  };
}

function progressOf(
  parts: FailureParts,
  { progress, total, message }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    ...(typeof progress === 'number' ? { progress } : {}),
    ...(typeof total === 'number' ? { total } : {}),
    ...(message === undefined ? {} : { message: textOf(parts, message) }),
  };
}

/** Masked before it is cut: half of a secret value would remain. */
function textOf({ mask }: FailureParts, value: unknown): string {
  const text = mask.text(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  return text.length <= TEXT_CHARACTERS ? text : `${text.slice(0, TEXT_CHARACTERS)}…`;
}
