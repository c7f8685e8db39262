/* The certified sequence C of a store (Certified), and the low-water mark of one bucket that follows it (Mark).

   C: every row with a lower sequence is visible to each later snapshot, or never will be. W writers lock the table,
   draw a transaction id, then a sequence, then commit or roll back; any may stall anywhere. Two workers of one store
   share C. One holds the bucket; the other takes it over when the lease has run out; both certify all the time. The
   first statement of a worker's transaction samples L, the next sequence; the second draws its id X, and leases or
   settles; the third reads. Once a read's own snapshot says that all other transactions up to X are over, C is at
   least L. Whoever deletes by range looks at the count of rows, and rolls back when it is another one.

   Switches (-DNAME=value), defaults as the code is:
   W 2, NS 3 (sequences), MAXX 6 (bound on ids)
   RULE      1  2: the id is drawn before the sample; 3: a read uses the C that is known when it returns; 4: the horizon
                is that of a later statement than the read; 5: what was read is passed, certified or not
   SEQFIRST  0  1: a writer draws its sequence before its id (the column txid stands after seq)
   LOCKS     0  1: C also by the holders of the table's lock, beside a writer that stays open; 2: they are listed before
                the sample; 3: a writer lets go of its lock before it is over; 4: it locks after it drew its sequence
   RANGE     1  0: no range delete; 2: of all that was read, certified or not; 3: without a look at the count; 4: both
   OPDEL     0  1: an operator deletes a row
   FAIL      0  1: a failover to a copy that lags behind; 2: the mark is kept over it; 3: C is                       */
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
#ifndef LOCKS
#define LOCKS 0
#endif
#ifndef RANGE
#define RANGE 1
#endif
#ifndef OPDEL
#define OPDEL 0
#endif
#ifndef FAIL
#define FAIL 0
#endif
#define NO 99
#define ABSENT 0
#define OPEN 1          /* inserted, not committed */
#define PEND 2
#define OUT 3           /* gone */
#define NOBODY 2

byte row[NS]; bool told[NS];            /* told: the broker has it, or an operator deleted it */
byte nextSeq, nextX = 1;
byte wx[W]; byte rx[2];                 /* ids of running transactions, or NO */
byte lock[W];                           /* which transaction of this writer holds the table's lock, or 0 */
byte low; byte holder = NOBODY; bool expired;
bit era;                                /* of the server: 1 after the failover */
byte cert, pl, px; bit certEra;         /* of the store, in memory: C, the pair that waits, and their era */
byte mlow[2]; bit mEra[2]; bool mine[2];/* in a worker's memory: its mark, and whether it thinks that it holds the bucket */
bool deleted;
#if FAIL
byte crow[NS]; byte cSeq, cX, cLow, cHolder; byte copied;
#endif

proctype Writer(byte w) { byte s, n; bit was;
end:
  do
  :: atomic { nextSeq<NS && nextX<MAXX-1 -> was=era; s=NO;
#if LOCKS && LOCKS!=4
        n++; lock[w]=n;
#endif
     }
#if SEQFIRST
     if :: atomic { era==was && nextSeq<NS -> s=nextSeq; nextSeq++ } :: era!=was || nextSeq>=NS -> goto over fi;
     if :: atomic { era==was && nextX<MAXX-1 -> wx[w]=nextX; nextX++; row[s]=OPEN } :: era!=was || nextX>=MAXX-1 -> s=NO fi;
#else
     if :: atomic { era==was && nextX<MAXX-1 -> wx[w]=nextX; nextX++ } :: era!=was || nextX>=MAXX-1 -> goto over fi;
     if :: atomic { era==was && nextSeq<NS -> s=nextSeq; nextSeq++; row[s]=OPEN } :: skip fi;     /* or a writer of something else */
#endif
#if LOCKS==4
     atomic { n++; lock[w]=n };
#endif
over:
#if LOCKS==3
     atomic { lock[w]=0 };
#endif
     atomic { if :: era==was -> wx[w]=NO; if :: s!=NO -> if :: row[s]=PEND :: row[s]=ABSENT fi :: else fi :: else fi;
        s=0; was=0
#if LOCKS && LOCKS!=3
     } atomic { lock[w]=0
#endif
     }
  od }

inline theHorizon() {
  h=nextX; do :: i<W -> h=(wx[i]<h -> wx[i] : h); i++ :: else -> break od; i=0;
  h=(rx[1-me]<h -> rx[1-me] : h) }

/* the first of the mark on, one or all */
inline readOn() {
  if :: lim=1 :: lim=NS fi; i=mlow[me];
  do :: i<NS && lim>0 -> if :: row[i]==PEND -> have[i]=1; lim--; top=i+1 :: else fi; i++ :: else -> break od;
  cut=(lim==0); i=0; lim=0 }

inline forget() { i=0; do :: i<NS -> have[i]=0; i++ :: else -> break od; i=0; mlow[me]=0; mine[me]=0; to=0; bound=0 }

/* what was read is delivered, all or the first, or stays as it is; the mark follows */
inline settle() {
  if :: lim=0 :: lim=1 :: lim=NS fi;
  do :: i<NS -> if :: have[i] && lim>0 -> told[i]=(mEra[me]==era -> 1 : told[i]); n++; lim-- :: have[i] && lim==0 -> have[i]=0; to=(i<to -> i : to); bound=0 :: else fi; i++ :: else -> break od; i=0;
  if :: bound>0 -> i=mlow[me]; do :: i<bound -> cnt=(row[i]==PEND -> cnt+1 : cnt); i++ :: else -> break od; i=0 :: else fi;
  if :: bound>0 && (cnt==n || RANGE==3 || RANGE==4) -> i=mlow[me]; do :: i<bound -> row[i]=(row[i]==PEND -> OUT : row[i]); have[i]=0; i++ :: else -> break od
     :: else -> do :: i<NS -> row[i]=(have[i] && row[i]==PEND -> OUT : row[i]); have[i]=0; i++ :: else -> break od fi;
  i=0; n=0; cnt=0; lim=0; bound=0; mlow[me]=(to>mlow[me] -> to : mlow[me]); to=0 }

proctype Worker(bit me) { bool have[NS]; byte i, lim, top, h, smp, known, to, bound, x, n, cnt; bool cut; bit tEra;
again:
  do
  :: atomic { nextX<MAXX -> tEra=era;                                        /* the first statement */
        if :: certEra!=era && FAIL!=3 -> certEra=era; cert=0; pl=0; px=0 :: else fi;
        known=cert;
#if RULE==2
        x=nextX; nextX++; rx[me]=x };
     atomic { if :: tEra!=era -> known=0; x=0; goto again :: else fi; smp=nextSeq;
#else
        smp=nextSeq };
     atomic { if :: tEra!=era || nextX>=MAXX -> known=0; smp=0; goto again :: else fi; x=nextX; nextX++; rx[me]=x;      /* the second */
#endif
        if :: mine[me] && (holder!=me || (mEra[me]!=era && FAIL!=2)) -> forget() :: else fi;
        if :: mine[me] -> settle(); expired=0; if :: holder=NOBODY; low=mlow[me]; forget() :: skip fi :: else fi;
        if :: !mine[me] && holder==NOBODY -> mlow[me]=low; holder=me; mine[me]=1; mEra[me]=era; expired=0
           :: !mine[me] && holder!=NOBODY && expired -> holder=me; mine[me]=1; mEra[me]=era; expired=0
           :: else fi };
     atomic { if :: tEra!=era -> known=0; smp=0; x=0; forget(); goto again :: else fi;                                  /* the third: the read */
        if :: mine[me] -> readOn() :: else fi;
#if RULE==4
        }; atomic { if :: tEra!=era -> known=0; smp=0; x=0; top=0; cut=0; forget(); goto again :: else fi;
#endif
        theHorizon() };
     atomic {                                                                /* its result has come; the commit */
        if :: RULE==3 -> known=cert :: else fi;
        if :: px!=0 && px<h && (certEra==tEra || FAIL==3) -> known=(pl>known -> pl : known); cert=(pl>cert -> pl : cert); pl=0; px=0 :: else fi;
        if :: x<h -> known=(smp>known -> smp : known); cert=((certEra==tEra || FAIL==3) && smp>cert -> smp : cert)
           :: x>=h && px==0 && certEra==tEra -> pl=smp; px=x :: else fi;
        if :: mine[me] -> to=((RULE==5 || (top<=known && cut)) -> top : known); bound=((RANGE==2 || RANGE==4 || (RANGE && top<=known)) -> top : 0) :: else fi;
        if :: tEra==era -> rx[me]=NO :: else -> forget() fi;
        known=0; h=0; cut=0; top=0; smp=0; x=0; tEra=0 };
     if :: atomic { forget() } :: skip fi                                    /* a crash */
  od }

#if LOCKS
/* For later snapshots only, which is what C means. */
proctype Locks() { byte hold[W], i, smp; bit was;
  do
  :: atomic { was=era; smp=nextSeq
#if LOCKS==2
       ; smp=0; do :: i<W -> hold[i]=lock[i]; i++ :: else -> break od; i=0 };
     atomic { smp=nextSeq };
#else
     };
     atomic { do :: i<W -> hold[i]=lock[i]; i++ :: else -> break od; i=0 };
#endif
     do :: i<W -> atomic { hold[i]==0 || lock[i]!=hold[i] -> hold[i]=0; i++ } :: i==W -> break od;
     atomic { i=0; if :: certEra==was && era==was -> cert=(smp>cert -> smp : cert) :: else fi; smp=0; was=0 }
  od }
#endif

proctype Env() { byte i;
  do
  :: atomic { holder!=NOBODY && !expired -> expired=1 }
#if OPDEL
  :: atomic { !deleted -> deleted=1; if :: row[0]==PEND -> row[0]=OUT; told[0]=1 :: row[1]==PEND -> row[1]=OUT; told[1]=1 :: else -> deleted=0 fi }
#endif
#if FAIL
  :: atomic { copied==0 -> copied=1; do :: i<NS -> crow[i]=(row[i]==OPEN -> ABSENT : row[i]); i++ :: else -> break od; i=0; cSeq=nextSeq; cX=nextX; cLow=low; cHolder=holder }
  :: atomic { copied==1 -> copied=2; era=1; do :: i<NS -> row[i]=crow[i]; told[i]=(crow[i]==ABSENT -> 0 : told[i]); crow[i]=0; i++ :: else -> break od; i=0; nextSeq=cSeq; nextX=cX; low=cLow; holder=cHolder; cSeq=0; cX=0; cLow=0; cHolder=0;
        do :: i<W -> wx[i]=NO; i++ :: else -> break od; i=0; rx[0]=NO; rx[1]=NO }
#endif
  od }

/* no committed message below a mark that is stored or in the holder's memory, none gone that was not delivered */
#define BELOW(m) ((row[0]==PEND && 0<(m)) || (row[1]==PEND && 1<(m)) || (NS>2 && row[(2*(NS>2))]==PEND && 2<(m)) || (NS>3 && row[(3*(NS>3))]==PEND && 3<(m)))
#define LOST(n) (row[n]==OUT && !told[n])
#define HOLDS(w) (mine[w] && holder==w && (mEra[w]==era || FAIL==2))
proctype Watch() {
  atomic { (holder==NOBODY && BELOW(low)) || (HOLDS(0) && BELOW(mlow[0])) || (HOLDS(1) && BELOW(mlow[1])) || LOST(0) || LOST(1) || LOST((2*(NS>2))) -> assert(0) } }

init { atomic { byte w; rx[0]=NO; rx[1]=NO; do :: w<W -> wx[w]=NO; run Writer(w); w++ :: else -> break od;
#if LOCKS
  run Locks();
#endif
  run Worker(0); run Worker(1); run Env(); run Watch() } }
