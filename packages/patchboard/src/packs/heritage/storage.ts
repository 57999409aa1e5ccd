import type {
  ContentItem,
  NpcProfile,
  NpcPrompt,
  PointOfInterest,
  PromptType,
  SiteData,
  SiteRoute,
  SiteScope,
  UserEvent,
} from './records.ts';

export interface ContentQuery {
  readonly text: string;
  /** Null: of any type. */
  readonly contentType: string | null;
  /** Items that have one of them at least; empty: with any tags. */
  readonly tags: readonly string[];
  readonly status: string;
  readonly limit: number;
}

export interface FoundContent {
  /** The best first, `limit` at most. */
  readonly items: readonly ContentItem[];
  /** How many there are, whatever the limit. */
  readonly total: number;
}

export interface SiteMap {
  readonly name: string;
  readonly pois: readonly PointOfInterest[];
  readonly routes: readonly SiteRoute[];
}

/**
 * What the heritage tools remember. Every method sees one site of one tenant and nothing else, and a promise settles
 * after the change is durable. `undefined` is the answer for what is not there.
 */
export interface HeritageStorage {
  /** `version` null: the active one. */
  npcProfile(scope: SiteScope, npcId: string, version: number | null): Promise<NpcProfile | undefined>;
  activePrompt(scope: SiteScope, npcId: string, type: PromptType): Promise<NpcPrompt | undefined>;
  /**
   * Items that hold every word of the text, in title, tags, summary or body. A run of Chinese characters is found
   * wherever it stands, from one character on; words of other scripts are found from their beginning.
   */
  search(scope: SiteScope, query: ContentQuery): Promise<FoundContent>;
  siteMap(scope: SiteScope): Promise<SiteMap | undefined>;
  /** The same id again changes nothing and answers with what stands, so that a call may be tried twice. */
  addContent(scope: SiteScope, item: ContentItem): Promise<ContentItem>;
  addEvent(scope: SiteScope, event: UserEvent): Promise<UserEvent>;
  /** Adds and replaces by id; what the data does not name stays. All of it or nothing. */
  importSite(scope: SiteScope, data: SiteData): Promise<void>;
  exportSite(scope: SiteScope): Promise<SiteData | undefined>;
  close(): Promise<void>;
}
