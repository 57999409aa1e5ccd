import type { MethodHandler } from '../exchange.ts';

/** The log levels of MCP, in ascending order. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

export type LogLevel = (typeof LEVELS)[number];

export function isLogLevel(level: unknown): level is LogLevel {
  return LEVELS.some((one) => one === level);
}

export function isAtLeast(level: LogLevel, lowest: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(lowest);
}

/** `logging/setLevel` of a session. A client without one gets no events of tools. */
export const setLogLevel: MethodHandler = ({ session, params }) => {
  const { level } = params;
  if (session !== null && isLogLevel(level)) session.logLevel = level;
  return '{}';
};
