import type {
  ExplainView,
  PolicyReviewView,
  PolicyVersionDetailView,
  PolicyVersionView,
  PolicyView,
} from '@patchboard/wire';
import {
  decodeExplained,
  decodePolicy,
  decodePolicyReview,
  decodePolicyVersion,
  decodePolicyVersionDetail,
} from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface ReplacePolicyOptions extends RequestOptions {
  /** Compare-and-set: throws `conflict` and changes nothing unless this is the current version. */
  readonly version?: number;
}

export interface PolicyQuestion extends RequestOptions {
  readonly toolName: string;
  /** Default `local`. */
  readonly agentId?: string;
  /** Default `{}`. */
  readonly args?: unknown;
  /** Evaluate this policy instead of the current one. */
  readonly document?: unknown;
}

export interface Policy {
  get(options?: RequestOptions): Promise<PolicyView>;
  replace(document: unknown, options?: ReplacePolicyOptions): Promise<PolicyView>;
  /** Newest first. */
  versions(options?: RequestOptions & { readonly limit?: number }): Pages<PolicyVersionView>;
  /** Returns one version with its document; 0 is the policy of the config file. */
  version(version: number, options?: RequestOptions): Promise<PolicyVersionDetailView>;
  /** Checks a policy against the server's current tools and keys: what each pattern matches, and which lines have no effect. */
  check(document: unknown, options?: RequestOptions): Promise<PolicyReviewView>;
  /** Returns the policy's decision on a call and the rule behind it. Records nothing. */
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
      // Not retried: each request creates a new version, and a retry with `version` would conflict with the first request.
      const what: HttpRequest = { method: 'PUT', path, body, repeat: 'unsafe' };
      return request(settings, what, decodePolicy, boundsOf(options));
    },
    versions({ limit, ...options } = {}) {
      const source = { path: `${path}/versions`, plural: 'versions', query: { limit } };
      return pages(settings, { ...source, decode: decodePolicyVersion }, options);
    },
    version(version, options = {}) {
      const what: HttpRequest = { method: 'GET', path: `${path}/versions/${version}`, repeat: 'safe' };
      return request(settings, what, decodePolicyVersionDetail, boundsOf(options));
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
