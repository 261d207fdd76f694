/**
 * The admin page of the atlas.
 *
 * @module
 */

import { admin } from '../../packages/admin/src/index.ts'
import type { Mountable } from '../../src/index.ts'

/** The page, with the columns that are of interest. */
export function adminPage(): Mountable {
  return admin({
    title: 'Atlas',
    resources: {
      cities: { list: ['name', 'country', 'population', 'capital', 'updatedAt'] },
      countries: { list: ['name', 'flag', 'code', 'region', 'capitals', 'area'] },
      'feed/cities': { title: 'Cities, page by page' },
    },
  })
}
