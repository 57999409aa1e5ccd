import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContentItem, SiteScope } from './records.ts';
import { YANTIAN } from './sample/yantian.ts';
import type { ContentQuery, HeritageStorage } from './storage.ts';

const HERE: SiteScope = { tenant: 'yantian', site: 'yantian-main' };
const OTHER_SITE: SiteScope = { tenant: 'yantian', site: 'yantian-hill' };
const OTHER_TENANT: SiteScope = { tenant: 'muyuan', site: 'yantian-main' };

export function aContent(id: string, given: Partial<ContentItem> = {}): ContentItem {
  return {
    id,
    content_type: 'knowledge',
    title: id,
    body: '正文',
    summary: null,
    tags: [],
    domains: [],
    source: null,
    credibility_score: null,
    verified: false,
    status: 'published',
    created_at: '2024-12-13T12:00:00.000Z',
    ...given,
  };
}

export function aQuery(text: string, given: Partial<ContentQuery> = {}): ContentQuery {
  return { text, contentType: null, tags: [], status: 'published', limit: 10, ...given };
}

/** The contract tests of a heritage storage. `open` returns an empty one. */
export function heritageStorageContract(
  name: string,
  open: () => HeritageStorage | Promise<HeritageStorage>,
): void {
  const filled = async (): Promise<HeritageStorage> => {
    const storage = await open();
    await storage.importSite(HERE, YANTIAN);
    return storage;
  };
  const titles = async (storage: HeritageStorage, query: ContentQuery, scope = HERE): Promise<string[]> =>
    (await storage.search(scope, query)).items.map((item) => item.title);

  describe(name, () => {
    it('exports what was imported', async () => {
      const storage = await filled();
      const data = await storage.exportSite(HERE);
      expect(data?.contents).toEqual(YANTIAN.contents);
      expect(data?.pois).toEqual(YANTIAN.pois);
      expect(data?.routes).toEqual(YANTIAN.routes);
      expect(data?.npcs).toEqual(expect.arrayContaining([...YANTIAN.npcs]));
      expect(data?.prompts).toEqual(expect.arrayContaining([...YANTIAN.prompts]));
      await storage.importSite(OTHER_SITE, data!);
      expect(await storage.exportSite(OTHER_SITE)).toEqual(data);
      await storage.close();
    });

    it('isolates sites and tenants', async () => {
      const storage = await filled();
      for (const scope of [OTHER_SITE, OTHER_TENANT]) {
        expect(await storage.exportSite(scope)).toBeUndefined();
        expect(await storage.siteMap(scope)).toBeUndefined();
        expect(await storage.npcProfile(scope, 'ancestor_yan', null)).toBeUndefined();
        expect(await storage.activePrompt(scope, 'ancestor_yan', 'system')).toBeUndefined();
        expect(await storage.search(scope, aQuery('家训'))).toEqual({ items: [], total: 0 });
        // Also with a record of the same id.
        await storage.addContent(scope, aContent('content_family_rules', { title: '别家的家训' }));
        expect(await titles(storage, aQuery('家训'), scope)).toEqual(['别家的家训']);
      }
      expect(await titles(storage, aQuery('别家'))).toEqual([]);
      await storage.close();
    });

    it('returns the active version, or the requested one', async () => {
      const storage = await filled();
      expect(await storage.npcProfile(HERE, 'storyteller_liu', null)).toMatchObject({
        version: 2,
        active: true,
      });
      expect(await storage.npcProfile(HERE, 'storyteller_liu', 1)).toMatchObject({
        version: 1,
        active: false,
      });
      expect(await storage.npcProfile(HERE, 'storyteller_liu', 3)).toBeUndefined();
      const [first] = YANTIAN.npcs.filter(({ npc_id: id }) => id === 'storyteller_liu');
      await storage.importSite(HERE, { ...YANTIAN, npcs: [{ ...first!, version: 3, active: true }] });
      expect(await storage.npcProfile(HERE, 'storyteller_liu', null)).toMatchObject({ version: 3 });
      expect(await storage.npcProfile(HERE, 'storyteller_liu', 2)).toMatchObject({ active: false });
      await storage.close();
    });

    it('adds an id once, and returns the stored record', async () => {
      const storage = await open();
      const first = await storage.addContent(HERE, aContent('draft', { title: '第一稿' }));
      const again = await storage.addContent(HERE, aContent('draft', { title: '第二稿' }));
      expect(again).toEqual(first);
      expect(await titles(storage, aQuery('稿'))).toEqual(['第一稿']);
      const event = {
        id: 'event',
        event_type: 'visit',
        event_data: { at: '古井' },
        user_id: null,
        session_id: null,
        logged_at: '2024-12-13T12:00:00.000Z',
      };
      expect(await storage.addEvent(HERE, event)).toEqual(event);
      expect(await storage.addEvent(HERE, { ...event, event_type: 'other' })).toEqual(event);
      await storage.close();
    });

    it('finds a replaced record by its new words only', async () => {
      const storage = await open();
      const site = { ...YANTIAN, npcs: [], prompts: [], pois: [], routes: [] };
      await storage.importSite(HERE, { ...site, contents: [aContent('one', { title: '旧名' })] });
      await storage.importSite(HERE, { ...site, contents: [aContent('one', { title: '新称' })] });
      expect(await titles(storage, aQuery('旧名'))).toEqual([]);
      expect(await titles(storage, aQuery('新称'))).toEqual(['新称']);
      await storage.close();
    });

    it('stores the last of several records with the same id, and the last active version', async () => {
      const storage = await open();
      const [npc] = YANTIAN.npcs;
      const versions = [2, 1].map((version) => ({ ...npc!, version, active: true }));
      const contents = [aContent('one', { title: '甲' }), aContent('two'), aContent('one', { title: '乙' })];
      const pois = ['旧', '新'].map((name) => ({ ...YANTIAN.pois[0]!, name }));
      await storage.importSite(HERE, {
        ...YANTIAN,
        contents,
        npcs: versions,
        pois: [...pois, YANTIAN.pois[1]!],
      });
      const data = await storage.exportSite(HERE);
      expect(data?.contents.map(({ id, title }) => [id, title])).toEqual([
        ['two', 'two'],
        ['one', '乙'],
      ]);
      expect(data?.npcs.map(({ version, active }) => [version, active])).toEqual([
        [1, true],
        [2, false],
      ]);
      expect(data?.pois).toEqual([pois[1], YANTIAN.pois[1]]);
      await storage.close();
    });

    it('stores every text, also with a zero byte or half a character', async () => {
      const storage = await open();
      const item = aContent('one', { title: 'a\0b 井', body: '\u{D800}', tags: ['x\0y'] });
      expect(await storage.addContent(HERE, item)).toMatchObject({ title: 'a\0b 井' });
      expect((await storage.exportSite(HERE))?.contents[0]?.title).toBe('a\0b 井');
      expect(await titles(storage, aQuery('井', { tags: ['x\0y'] }))).toEqual(['a\0b 井']);
      expect(await titles(storage, aQuery('井\0', { status: '\0' }))).toEqual([]);
      expect(await storage.npcProfile(HERE, '\0', null)).toBeUndefined();
      await storage.close();
    });

    it('imports nothing if a part of the import fails', async () => {
      const storage = await open();
      const broken = aContent('two', { title: null as unknown as string });
      const contents = [aContent('one'), broken];
      await expect(storage.importSite(HERE, { ...YANTIAN, contents })).rejects.toThrow();
      expect(await storage.exportSite(HERE)).toBeUndefined();
      await storage.close();
    });

    it('searches words without regard to case, width and accents', async () => {
      const storage = await open();
      await storage.addContent(HERE, aContent('one', { title: 'Café Ｖｉｌｌａｇｅ' }));
      for (const text of ['cafe', 'CAFÉ', 'village', 'ｖｉｌ'])
        expect(await titles(storage, aQuery(text)), text).toHaveLength(1);
      expect(await titles(storage, aQuery('afe'))).toEqual([]);
      await storage.close();
    });

    describe('search over the sample', () => {
      let storage: HeritageStorage;
      beforeAll(async () => {
        storage = await filled();
      });
      afterAll(() => storage.close());

      it.each<[string, string[]]>([
        ['严氏家训', ['严氏家训十则', '腊月诵训', '严氏祠堂']],
        ['家训', ['严氏家训十则', '腊月诵训', '严氏祠堂', '始迁祖严公伯衡']],
        ['严氏家训十则', ['严氏家训十则', '严氏祠堂']],
        [
          '井',
          ['古井', '井底月亮的传说', '始迁祖严公伯衡', '严氏祠堂', '尝新节', '腊月诵训', '严田古村概说'],
        ],
        ['古井', ['古井', '井底月亮的传说', '尝新节', '严田古村概说']],
        ['古井 传说', ['井底月亮的传说']],
        ['月亮的传说', ['井底月亮的传说']],
        ['樟', ['村口古樟', '严田木雕', '严田古村概说', '始迁祖严公伯衡']],
        ['well', ['A short guide to Yantian village']],
        ['WELL family', ['A short guide to Yantian village']],
        ['ances', ['A short guide to Yantian village']],
        ['Yan 严田', ['A short guide to Yantian village']],
        ['堂祠', []],
        ['不存在', []],
        ['ell', []],
        ['！', []],
        ['宗谱第六次', []],
      ])('%s', async (text, expected) => {
        const found = await storage.search(HERE, aQuery(text));
        expect(found.items.map((item) => item.title)).toEqual(expected);
        expect(found.total).toBe(expected.length);
      });

      it.each<[string, Partial<ContentQuery>, string[]]>([
        ['井', { contentType: 'story' }, ['井底月亮的传说', '腊月诵训']],
        ['祠堂', { tags: ['年俗'] }, ['腊月诵训']],
        ['井', { tags: ['水利', '中秋'] }, ['古井', '井底月亮的传说']],
        ['井', { contentType: 'story', tags: ['水利'] }, []],
        ['宗谱', { status: 'review' }, ['宗谱第六次续修说明（整理稿）']],
        ['井', { status: 'draft' }, []],
        ['井', { contentType: '" OR labels : (x)' }, []],
      ])('%s with %o', async (text, given, expected) => {
        expect(await titles(storage, aQuery(text, given))).toEqual(expected);
      });

      it('counts all hits and returns at most `limit`', async () => {
        const { items, total } = await storage.search(HERE, aQuery('井', { limit: 2 }));
        expect(items).toHaveLength(2);
        expect(total).toBe(7);
      });
    });
  });
}
