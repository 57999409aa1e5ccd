import type { ExplainView, PolicyReviewView, PolicyView } from '@patchboard/wire';
import { decodeExplained, decodePolicy, decodePolicyReview } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

export interface ReplacePolicyOptions extends RequestOptions {
  /** The version you looked at: if another is in force by then, `conflict` is thrown and nothing changes. */
  readonly version?: number;
}

export interface PolicyQuestion extends RequestOptions {
  readonly toolName: string;
  /** Default `local`. */
  readonly agentId?: string;
  /** Default `{}`. */
  readonly args?: unknown;
  /** Ask this policy instead of the one in force. */
  readonly document?: unknown;
}

export interface Policy {
  get(options?: RequestOptions): Promise<PolicyView>;
  replace(document: unknown, options?: ReplacePolicyOptions): Promise<PolicyView>;
  /** A policy beside the tools and keys that the server has: what each pattern matches, and what has no effect. */
  check(document: unknown, options?: RequestOptions): Promise<PolicyReviewView>;
  /** What the policy says to a call, and by which rule. Nothing is recorded. */
  explain(question: PolicyQuestion): Promise<ExplainView>;
}

export function policy(settings: Settings): Policy {
  const path = '/v1/policy';
  return {
    get: (options = {}) =>
      request(settings, { method: 'GET', path, repeat: 'safe' }, decodePolicy, boundsOf(options)),
    replace(document, options = {}) {
      const { version } = options;
      const body = { document, ...(version === undefined ? {} : { version }) };
      // Each one is a new version, and a repeated one with a version given conflicts with itself.
      const what: HttpRequest = { method: 'PUT', path, body, repeat: 'unsafe' };
      return request(settings, what, decodePolicy, boundsOf(options));
    },
    check(document, options = {}) {
      const what: HttpRequest = { method: 'POST', path: `${path}/check`, body: { document }, repeat: 'safe' };
      return request(settings, what, decodePolicyReview, boundsOf(options));
    },
    explain({ toolName, agentId, args, document, ...options }) {
      const body = {
        tool_name: toolName,
        ...(agentId === undefined ? {} : { agent_id: agentId }),
        ...(args === undefined ? {} : { args }),
        ...(document === undefined ? {} : { document }),
      };
      const what: HttpRequest = { method: 'POST', path: `${path}/explain`, body, repeat: 'safe' };
      return request(settings, what, decodeExplained, boundsOf(options));
    },
  };
}
