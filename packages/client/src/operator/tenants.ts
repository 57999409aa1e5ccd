import type { TenantLimitsView, TenantView } from '@patchboard/wire';
import { decodeForgottenTenant, decodeTenant } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages } from '../http/pages.ts';

/** Settings of a tenant. Omitted members use the defaults of all tenants. */
export interface TenantSaid extends RequestOptions {
  readonly sites?: readonly string[];
  readonly packs?: readonly string[];
  readonly limits?: TenantLimitsView;
}

export interface Tenants {
  list(options?: RequestOptions): Promise<TenantView[]>;
  /** Replaces all settings of the tenant. Requires the operator token. */
  replace(tenantId: string, said: TenantSaid): Promise<TenantView>;
  /** Deletes the stored settings, so that those of the config file apply again. */
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
      // PUT is idempotent here.
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
