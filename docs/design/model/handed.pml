/* Messages from memory: a process that appends gives what it has committed to its own relay, which keeps the lease.

   One bucket with two keys. A producer locks its aggregate; appends: that draws the sequence, and says whether the
   bucket has no other message and no key that waits, and by which token who holds it; commits or rolls back; and gives
   what it knows to be committed to the relay, at once or much later. The relay puts it beside the lease with that token
   in its memory, and only above what was read of the bucket since. While a worker has the lease in hands it waits, and
   is put there under the same conditions when a lease comes back. Whoever takes the lease takes what was given along: to
   publish it, or to read and forget it. Relay 0 has two workers, relay 1 has one. A lease may end at any time; a look or
   a settle may come to nothing.

   Switches (-DNAME=value), defaults as planned:
   N 2 (messages), P 2 (producers), W 2 (workers of relay 0), MAXT 3 (leases)
   ALONE   1  0: whether the bucket has other messages is not asked; 2: it is asked before the aggregate is locked
   WAITS   1  0: whether a key of the bucket waits is not asked
   KNOWN   1  0: it is given before the commit
   TOKEN   1  0: any lease will do; 2: any that comes back, for what waited
   IDLE    1  0: it is put there also while a worker has the lease in hands
   ABOVE   1  0: also what was read already; 2: also what was read while it waited
   ROOM    1  0: also beside what another append has given
   FORGETS 1  0: what was given stays when the lease is taken to be read                                            */
#ifndef N
#define N 2
#endif
#ifndef P
#define P 2
#endif
#ifndef W
#define W 2
#endif
#ifndef MAXT
#define MAXT 3
#endif
#ifndef ALONE
#define ALONE 1
#endif
#ifndef WAITS
#define WAITS 1
#endif
#ifndef KNOWN
#define KNOWN 1
#endif
#ifndef TOKEN
#define TOKEN 1
#endif
#ifndef IDLE
#define IDLE 1
#endif
#ifndef ABOVE
#define ABOVE 1
#endif
#ifndef ROOM
#define ROOM 1
#endif
#ifndef FORGETS
#define FORGETS 1
#endif
#define BIT(i) (1<<(i))
#define ABSENT 0
#define OPEN 1
#define THERE 2         /* committed, PENDING */
#define WAIT 3          /* its key is blocked */
#define GONE 4          /* settled */
#define NOBODY 2
#define RELAY (me==2)

byte st[N]; bit key[N]; byte next;
bool lock[2];
byte waits;                             /* by bit: a key that is blocked */
byte first;                             /* by bit: was delivered */
bool cut;                               /* a lease ended, or a settle came to nothing: messages may be repeated */
byte holder = 0; byte token = 1; bool ended;       /* relay 0 keeps the lease from before */
byte pool[2];                           /* of a relay, in memory: the token of the lease that waits, or 0 */
byte given;                             /* by bit, in the memory of relay 0: beside the lease that waits */
byte inHand[N];                         /* there: the token of the lease that the message waits for, or 0 */
byte wait;                              /* how many wait */
byte above;                             /* there: what is below was read */

/* O1; A1; and nothing is repeated unless something was cut off */
inline deliver(i) {
  assert(st[i]>=THERE);
  j=0; do :: j<i -> assert(!((st[j]==THERE || st[j]==WAIT) && key[j]==key[i] && !(first & BIT(j)))); j++ :: else -> break od; j=0;
  assert(cut || !(first & BIT(i)));
  first=first|BIT(i) }

inline give(i) {
  if
  :: alone && pool[0]!=0 && (!TOKEN || pool[0]==tok) && (!ABOVE || i>=above) && (!ROOM || given==0) -> given=given|BIT(i)
  :: alone && pool[0]==0 && tok!=0 && IDLE && (ABOVE!=2 || i>=above) && (!ROOM || wait==0) -> inHand[i]=tok; wait++
  :: alone && pool[0]==0 && !IDLE && holder==0 && i>=above -> given=given|BIT(i)
  :: else
  fi }

/* a lease waits for the next worker, with what its last one had along and has not read */
inline back(along) {
  pool[RELAY]=t;
  if
  :: RELAY==0 ->
     given=(IDLE -> along : given|along);
     i=0; do :: i<N ->
       if
       :: inHand[i]!=0 && (TOKEN!=1 || inHand[i]==t) && (ABOVE!=1 || i>=above) && (!ROOM || given==0) -> given=given|BIT(i)
       :: else
       fi;
       inHand[i]=0; i++ :: else -> break od; i=0; wait=0
  :: else
  fi }

proctype Producer() { byte i, j, tok; bool alone, early; bit k;
  do
  :: atomic { next<N -> if :: k=0 :: k=1 fi;
       early=1; j=0; do :: j<N -> early=(st[j]==THERE -> 0 : early); j++ :: else -> break od; j=0 };
     atomic { !lock[k] -> lock[k]=1 };
     if
     :: atomic { next<N -> i=next; next++; st[i]=OPEN; key[i]=k;
          alone=1; j=0; do :: j<N -> alone=(st[j]==THERE -> 0 : alone); j++ :: else -> break od; j=0;
          alone=(ALONE==0 -> 1 : (ALONE==2 -> early : alone));
          alone=(WAITS && waits!=0 -> 0 : alone);
          tok=(holder==0 -> token : 0); early=0 }
     :: atomic { next>=N -> lock[k]=0; goto done }
     fi;
#if KNOWN==0
     atomic { give(i) };
#endif
     if
     :: atomic { st[i]=THERE; lock[k]=0 };
        if :: atomic { give(i) } :: skip fi                                   /* or the outcome is not known */
     :: atomic { st[i]=ABSENT; lock[k]=0 }
     fi;
     atomic { i=0; tok=0; alone=0; k=0 }
  od;
done: skip }

proctype Clock() {
end:
  do :: atomic { holder!=NOBODY && !ended && token<MAXT -> ended=1; cut=1 } od }

/* what a holder may have: of a key that waits the first one, when its time has come; of the others one or all */
inline read() {
  i=0; do :: i<N -> st[i]=(st[i]==THERE && (waits & BIT(key[i])) -> WAIT : st[i]); i++ :: else -> break od; i=0;
  if :: lim=1 :: lim=N fi;
  do :: i<N && lim>0 -> if :: st[i]==THERE -> have=have|BIT(i); lim-- :: else fi; i++ :: else -> break od; i=0; lim=0;
  if
  :: k=0; do :: k<2 -> i=0; do :: i<N && !(st[i]==WAIT && key[i]==k) -> i++ :: else -> break od;
       if :: i<N -> have=have|BIT(i) :: else fi; k++ :: else -> break od; k=0; i=0
  :: skip
  fi }

proctype Worker(byte me) { byte t, have, along, i, j, k, lim, failed;
end:
  do
  :: atomic { t==0 && pool[RELAY]!=0 -> t=pool[RELAY]; pool[RELAY]=0;
       if :: RELAY==0 -> along=given; given=0 :: else fi;
       if
       :: along!=0 && holder==0 && token==t && !ended -> have=along; along=0
       :: holder==RELAY && token==t && !ended -> along=(FORGETS -> 0 : along); read()
       :: holder!=RELAY || token!=t || ended -> t=0; along=0
       :: skip                                                                /* a look that comes to nothing */
       fi }
  :: atomic { t!=0 && have==0 -> back(along); t=0; along=0 }                  /* nothing there */
  :: atomic { t==0 && pool[RELAY]==0 && (holder==NOBODY || ended) && token<MAXT ->
       read();
       if :: have!=0 -> token++; holder=RELAY; ended=0; t=token :: else fi }
  :: have!=0 ->
     atomic {
       do :: i<N -> above=(RELAY==0 && (have & BIT(i)) && i>=above -> i+1 : above); i++ :: else -> break od; i=0;
       do                                                                     /* what is behind a failed one waits */
       :: i==N -> break
       :: i<N && !(have & BIT(i)) -> i++
       :: i<N && (have & BIT(i)) && (failed & BIT(key[i])) -> have=have & ~BIT(i); i++
       :: i<N && (have & BIT(i)) && !(failed & BIT(key[i])) -> deliver(i); i++
       :: i<N && (have & BIT(i)) && failed==0 -> failed=BIT(key[i]); lim=i+1; have=have & ~BIT(i); i++
       od; i=0 };
     atomic {                                                                 /* settle */
       if
       :: holder==RELAY && token==t ->
            do :: i<N -> st[i]=((have & BIT(i)) && st[i]>=THERE -> GONE : st[i]); i++ :: else -> break od; i=0;
            if :: failed!=0 && (st[lim-1]==THERE || st[lim-1]==WAIT) -> st[lim-1]=WAIT; waits=waits|failed :: else fi;
            k=0; do :: k<2 -> j=0; do :: j<N && !(st[j]==WAIT && key[j]==k) -> j++ :: else -> break od;
              waits=(j==N -> waits & ~BIT(k) : waits); k++ :: else -> break od; k=0; j=0;
            if
            :: failed==0 -> back(along)                                       /* kept */
            :: holder=NOBODY; ended=0                                         /* given back */
            fi
       :: cut=1                                                               /* left to its lease */
       fi;
       have=0; t=0; along=0; failed=0; lim=0 }
  :: atomic { t==0 && pool[RELAY]!=0 ->                                      /* others may want it */
       if :: holder==RELAY && token==pool[RELAY] -> holder=NOBODY; ended=0 :: else fi;
       pool[RELAY]=0; if :: RELAY==0 && FORGETS -> given=0 :: else fi }
  od }

init { atomic { byte p; pool[0]=1; do :: p<P -> run Producer(); p++ :: else -> break od; run Clock();
  run Worker(2); p=0; do :: p<W -> run Worker(p); p++ :: else -> break od } }
