/* The low-water mark of one bucket, with abstract transaction ids and snapshots. docs/design/relational.md

   W writers draw a transaction id, then a sequence, then commit or roll back; any may stall anywhere. Two relays
   lease and read (T1), settle and read on (T2), settle and release (T3); they may crash, and are overtaken when
   their lease has run out. A snapshot's horizon is the lowest id of another transaction that is running, or next.

   adopt    Mark.afterRead, called by BatchReader.readPending
   settled  Mark.afterSettle, called by Lease.goesOn; its id is drawn by Statements.lockHeld
   store    Statements.release        load    Statements.lease: forgotten where the last lease ran out

   Switches (-DNAME=value), defaults as the code is:
   W 2, NS 3 (sequences), MAXX 6 (bound on ids)
   RULE      1  as the code is; 2: the candidate carries the xmax that its read saw; 3: the id of the transaction
                that reads it, not of the one that settles it; 4: the horizon is that of a later statement than the
                read; 5: the candidate is adopted without looking for what is still PENDING below it
   SEQFIRST  0  1: a writer draws its sequence before its id (the column txid stands after seq)
   REQ       0  a dead letter is set back to 1: PENDING; 2: PENDING, and the stored mark is lowered with it      */
#ifndef W
#define W 2
#endif
#ifndef NS
#define NS 3
#endif
#ifndef MAXX
#define MAXX 6
#endif
#ifndef RULE
#define RULE 1
#endif
#ifndef SEQFIRST
#define SEQFIRST 0
#endif
#ifndef REQ
#define REQ 0
#endif
#define NO 99
#define ABSENT 0
#define OPEN 1          /* inserted, not committed */
#define PEND 2
#define OUT 3           /* left PENDING: delivered, moved */
#define DEAD 4
#define NOBODY 2

byte row[NS]; byte nextSeq, nextX = 1, maxDone;
byte wx[W]; byte rx[2];                 /* ids of running transactions, or NO */
byte low, cand, after;                  /* as stored */
byte holder = NOBODY; bool expired; bool requeued;
byte mlow[2];                           /* in a holder's memory */

inline finish(x) { if :: x>maxDone -> maxDone=x :: else fi; x=NO }

proctype Writer(byte w) { byte s;
end:
  do
  :: atomic { nextSeq<NS && nextX<MAXX-1 ->
#if SEQFIRST
        s=nextSeq; nextSeq++ }
     atomic { wx[w]=nextX; nextX++; row[s]=OPEN }
#else
        wx[w]=nextX; nextX++ }
     if :: atomic { nextSeq<NS -> s=nextSeq; nextSeq++; row[s]=OPEN }
        :: atomic { finish(wx[w]); goto end }                                /* a writer of something else */
     fi;
#endif
     atomic { if :: row[s]=PEND :: row[s]=ABSENT fi; finish(wx[w]); s=0 }
  od }

/* the first of the mark on, one or all */
inline readOn() {
  if :: lim=1 :: lim=NS fi; lo=NO; top=0; i=mlow[me];
  do :: i<NS && lim>0 -> if :: row[i]==PEND -> have[i]=1; lim--; top=i+1; lo=(lo==NO -> i : lo) :: else fi; i++ :: else -> break od;
  i=0; lim=0; sx=(RULE==2 -> maxDone+1 : 0) }

inline theHorizon() {
  h=nextX; do :: i<W -> h=(wx[i]<h -> wx[i] : h); i++ :: else -> break od; i=0;
  h=(rx[1-me]<h -> rx[1-me] : h); h=(rx[me]<h -> rx[me]+1 : h) }

inline adopt() {
  rd=(top>rd -> top : rd);
  if :: mcand!=0 && ((RULE==2 && h>=mafter) || (RULE!=2 && mafter<h)) ->
        h=(RULE==5 || mcand<lo -> mcand : lo); mlow[me]=(h>mlow[me] -> h : mlow[me]); mcand=0; mafter=0
     :: else fi; lo=0; h=0; top=0 }

inline candidate(x) { if :: (mcand==0 || mafter>=x) && rd>mlow[me] -> mcand=rd; mafter=x; rd=0 :: else fi }

inline quit() { i=0; do :: i<NS -> have[i]=0; i++ :: else -> break od; i=0; mlow[me]=0; mcand=0; mafter=0; rd=0; sx=0; goto again }

proctype Reader(bit me) { bool have[NS]; byte i, lim, lo, top, h, sx, mcand, mafter, rd; bool more;
again:
  do
  :: atomic { (holder==NOBODY || expired) ->                                 /* T1 */
        if :: holder==NOBODY -> mlow[me]=low; mcand=cand; mafter=after :: else fi;
        holder=me; expired=0; readOn();
#if RULE==4
     }
     atomic {
#endif
        theHorizon(); adopt() };
     do
     :: atomic { quit() }                                                    /* crash */
     :: atomic { holder==me && nextX<MAXX ->                                 /* T2, T3: the id is drawn, the batch settled */
           rx[me]=nextX; nextX++;
           do :: i<NS -> if :: have[i] -> if :: row[i]=OUT :: row[i]=(REQ -> DEAD : OUT) :: skip fi; have[i]=0 :: else fi; i++ :: else -> break od; i=0;
           if :: RULE==2 -> candidate(sx) :: RULE!=3 && RULE!=2 -> candidate(rx[me]) :: else fi;
           if :: more=0 :: more=1 fi;
           if :: !more -> finish(rx[me]); holder=NOBODY; expired=0; low=mlow[me]; cand=mcand; after=mafter; quit()
              :: else -> expired=0 fi };
        atomic { more=0; readOn();                                           /* T2 goes on, by a later statement */
           theHorizon(); adopt();
           if :: RULE==3 -> candidate(rx[me]) :: else fi;
           finish(rx[me]) }
     od
  od }

proctype Env() { byte i;
  do
  :: atomic { holder!=NOBODY && !expired && rx[0]==NO && rx[1]==NO -> expired=1 }
#if REQ
  :: atomic { !requeued -> do :: i<NS && row[i]!=DEAD -> i++ :: else -> break od;
        if :: i<NS -> requeued=1; row[i]=PEND; low=((REQ==2 && low>i) -> i : low) :: else fi; i=0 }
#endif
  od }

/* no committed PENDING message below a mark that is stored, or in the memory of the holder */
#define BELOW(m) ((row[0]==PEND && 0<(m)) || (row[1]==PEND && 1<(m)) || (NS>2 && row[(2*(NS>2))]==PEND && 2<(m)) || (NS>3 && row[(3*(NS>3))]==PEND && 3<(m)))
proctype Watch() {
  atomic { (holder==NOBODY && BELOW(low)) || (holder!=NOBODY && BELOW(mlow[(holder==1)])) -> assert(0) } }

init { atomic { byte w; rx[0]=NO; rx[1]=NO; do :: w<W -> wx[w]=NO; run Writer(w); w++ :: else -> break od;
  run Reader(0); run Reader(1); run Env(); run Watch() } }
