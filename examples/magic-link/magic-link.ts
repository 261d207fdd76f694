/**
 * A way to sign in of your own: a link that is mailed, and opens one session. It takes the place of a password, and proves
 * the address that it went to.
 *
 * @module
 */

import { HttpError } from 'fieldgate'
import { defineMethod, type Method, methodModel } from 'fieldgate/methods'
import { z } from 'zod'

const MINUTES = 10

/**
 * `POST /login/link` with an identifier mails what your page sends back as `POST /login` `{ link }`. Write the page's URL
 * around `{{code}}` in `mail.templates.signInCode`.
 */
export function magicLink(): Method<'magicLink'> {
  return defineMethod({
    name: 'magicLink',
    routes: [
      {
        name: 'sendLink',
        method: 'POST',
        path: '/login/link',
        access: 'anyone',
        summary: 'Mails a link that signs in, if the account exists',
        body: z.object({ identifier: z.string() }),
        refusals: [identifierRequired()],
      },
    ],
    open(accounts) {
      // A collection of its own: one link for each account, so that a new one ends the last.
      const links = accounts.collection(
        methodModel(accounts.model, 'MagicLink', {
          fields: { owner: z.string(), seal: z.string(), era: z.string(), expiresAt: z.date() },
          unique: ['owner'],
        }),
      )
      const endLinkOf = (owner: string) => links.delete({ op: 'eq', field: 'owner', value: owner })
      return {
        handlers: {
          async sendLink(request) {
            const account = accounts.named(await accounts.body(request))
            if (!account) throw identifierRequired()
            return accounts.sendCode(request, account.find, async (user) => {
              const _id = accounts.newId()
              const code = `${_id}.${crypto.randomUUID()}`
              const expiresAt = new Date(accounts.now() + MINUTES * 60_000)
              const owner = String(user._id)
              await endLinkOf(owner)
              // Only a seal of the link is stored, and the era of the account: a takeover ends the link, as disabling it does.
              const [seal, era] = [accounts.seal(code), accounts.activeEra(user)]
              await links.insert({ _id, owner, seal, era, expiresAt })
              return { code, expiresAt }
            })
          },
        },
        signIn: {
          takes: (body) => Object.hasOwn(body, 'link'),
          async respond({ link }, request, own) {
            if (typeof link !== 'string') throw new HttpError(400, 'Invalid credentials format.')
            // Removed before anything else, in one step: of parallel requests, one has it.
            const used = await links.delete({ op: 'eq', field: 'seal', value: accounts.seal(link) })
            const user = used && (await accounts.byId(used.owner))
            const isGood =
              user &&
              Number(used.expiresAt) > accounts.now() &&
              used.era === accounts.activeEra(user) &&
              !accounts.isDisabled(user) &&
              (own === undefined || own === used.owner)
            if (!isGood) throw expired()
            // The mailbox is proven: what others have put into the account before ends here.
            const owner = await accounts.prove(user, request, own)
            if (!owner) throw expired()
            return accounts.signIn(owner, request, { own })
          },
        },
        forget: async (userId) => void (await endLinkOf(userId)),
      }
    },
  })
}

function identifierRequired(): HttpError {
  return new HttpError(400, 'An identifier is required.')
}

function expired(): HttpError {
  return new HttpError(401, 'This link has expired. Ask for a new one.')
}
