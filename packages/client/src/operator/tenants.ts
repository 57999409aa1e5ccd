import type { TenantLimitsView, TenantView } from '@patchboard/wire';
import { decodeForgottenTenant, decodeTenant } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages } from '../http/pages.ts';

/** What is said of a tenant; what is left out is as for everybody. */
export interface TenantSaid extends RequestOptions {
  readonly sites?: readonly string[];
  readonly packs?: readonly string[];
  readonly limits?: TenantLimitsView;
}

export interface Tenants {
  list(options?: RequestOptions): Promise<TenantView[]>;
  /** Replaces all that was said of it. Takes the operator token. */
  replace(tenantId: string, said: TenantSaid): Promise<TenantView>;
  /** What the config says counts again. */
  forget(tenantId: string, options?: RequestOptions): Promise<void>;
}

export function tenants(settings: Settings): Tenants {
  const path = '/v1/tenants';
  return {
    async list(options = {}) {
      const all: TenantView[] = [];
      const source = { path, plural: 'tenants', query: {}, decode: decodeTenant };
      for await (const tenant of pages(settings, source, options)) all.push(tenant);
      return all;
    },
    replace(tenantId, { sites, packs, limits, ...options }) {
      const body = {
        ...(sites === undefined ? {} : { sites }),
        ...(packs === undefined ? {} : { packs }),
        ...(limits === undefined ? {} : { limits }),
      };
      // The same again changes nothing.
      const what: HttpRequest = {
        method: 'PUT',
        path: `${path}/${encodeURIComponent(tenantId)}`,
        body,
        repeat: 'safe',
      };
      return request(settings, what, decodeTenant, boundsOf(options));
    },
    async forget(tenantId, options = {}) {
      const what: HttpRequest = {
        method: 'DELETE',
        path: `${path}/${encodeURIComponent(tenantId)}`,
        repeat: 'unsafe',
      };
      await request(settings, what, decodeForgottenTenant, boundsOf(options));
    },
  };
}
