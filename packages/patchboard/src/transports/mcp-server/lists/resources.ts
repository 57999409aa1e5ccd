import type { Resource, ResourceTemplate } from '../../../core/resources/resource.ts';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { cachingMembers, PAGE_SIZE, pageResult, pageStart } from './list-page.ts';
import { packFailure, resourceNotFound } from '../messages/pack-failure.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';

const RESOURCES = { list: 'resources/list', plural: 'resources' };
const TEMPLATES = { list: 'resources/templates/list', plural: 'resourceTemplates' };

/** Contents may change at any time: they are stale at once, and clients that want to know subscribe. */
const CONTENTS_TTL_MS = 0;

export function listResources(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal } = exchange;
  const start = pageStart(exchange, RESOURCES.list);
  const { items, nextCursor } = context.engine.resources.list(principal, start, PAGE_SIZE);
  return pageResult(exchange, RESOURCES, items.map(resourceRow), nextCursor);
}

export function listResourceTemplates(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal } = exchange;
  const start = pageStart(exchange, TEMPLATES.list);
  const { items, nextCursor } = context.engine.resources.templates(principal, start, PAGE_SIZE);
  return pageResult(exchange, TEMPLATES, items.map(templateRow), nextCursor);
}

/** Reads are no calls, and are not recorded. A resource that the principal may not see does not exist for it. */
export async function readResource(exchange: Exchange): Promise<string> {
  const { context, principal, params, response, era } = exchange;
  const uri = params['uri'] as string;
  const read = await response.hold(
    async (signal) => await context.engine.resources.read(principal, uri, signal),
  );
  if (read.ok)
    return resultJson(era, membersOf({ contents: read.value }) + cachingMembers(exchange, CONTENTS_TTL_MS));
  throw read.failure.code === 'resource_not_found'
    ? resourceNotFound(era, uri, read.failure)
    : packFailure(read.failure, era);
}

function resourceRow(resource: Resource): string {
  const { uri, size } = resource;
  return JSON.stringify({ uri, ...describedMembers(resource), size });
}

function templateRow(template: ResourceTemplate): string {
  return JSON.stringify({ uriTemplate: template.uriTemplate, ...describedMembers(template) });
}

/** JSON omits the members that are undefined. */
function describedMembers({
  name,
  title,
  description,
  mimeType,
  annotations,
}: Omit<Resource, 'uri' | 'read'>): object {
  const { audience, priority, lastModified } = annotations ?? {};
  return {
    name,
    title,
    description,
    mimeType,
    annotations: annotations === undefined ? undefined : { audience, priority, lastModified },
  };
}
